// What is read: vllm.AsyncEngineArgs, EngineArgs and LLM (keyword arguments of EngineArgs),
// ray.serve.llm.LLMConfig, and ray.data.llm.vLLMEngineProcessorConfig with `model_source`,
// `engine_kwargs` and `accelerator_type` (ray 2.52).

#include "lint/read/ray_python.h"

#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/python_script.h"
#include "lint/read/ray_llm.h"

namespace kvbudget {
namespace {

bool makes_engine(std::string_view name) {
  return name == "AsyncEngineArgs" || name == "EngineArgs" || name == "LLM";
}

void add_engine(const Node& arguments, EngineStart start, FileContents& out) {
  if (arguments.find("model") == nullptr) return;
  add_keys(arguments, start.config);
  // Without GPUs at the workers it runs on another kind of accelerator.
  if (start.gpu.count) fit_replica(&arguments, start.gpu.count->where, start);
  out.starts.push_back(std::move(start));
}

void add_processor(const Node& config, EngineStart start, FileContents& out) {
  const Entry* model = config.find_entry("model_source");
  if (model == nullptr) return;
  start.config.push_back(renamed_key(*model, "model"));
  const Node* kwargs = config.find("engine_kwargs");
  if (kwargs != nullptr) add_keys(*kwargs, start.config);
  const Node* type = config.find("accelerator_type");
  if (type != nullptr && type->is_scalar() && !has_placeholder(type->scalar())) {
    start.gpu.name = {std::string(type->scalar()), type->where};
  }
  fit_replica(kwargs, config.where, start);
  out.starts.push_back(std::move(start));
}

}  // namespace

void add_python_engines(const SourceText& text, const EngineStart& base, FileContents& out) {
  const PythonScript script(text, base.env);
  EngineStart start = base;
  start.serve = false;
  start.keys_are_arguments = true;
  start.joins_ray_cluster = true;
  for (const PythonCall& call : script.calls()) {
    const bool processor = call.name == "vLLMEngineProcessorConfig";
    if (!makes_engine(call.name) && !processor && call.name != "LLMConfig") continue;
    const NodePtr arguments = script.arguments_of(call);
    if (arguments == nullptr || arguments->entries.empty()) continue;
    if (call.name == "LLMConfig") {
      if (is_llm_config(*arguments)) add_llm_config(*arguments, base, out);
    } else if (processor) {
      add_processor(*arguments, start, out);
    } else {
      add_engine(*arguments, start, out);
    }
  }
}

}  // namespace kvbudget
