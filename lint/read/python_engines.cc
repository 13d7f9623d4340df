// What is read: vllm.AsyncEngineArgs, EngineArgs and LLM (keyword arguments of EngineArgs),
// ray.serve.llm.LLMConfig, and ray.data.llm.vLLMEngineProcessorConfig with `model_source`,
// `engine_kwargs` and `accelerator_type` (ray 2.52).

#include "lint/read/python_engines.h"

#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/ray_llm.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxEngines = 200;  // calls of one script; more are left out

bool makes_engine(std::string_view name) {
  return name == "AsyncEngineArgs" || name == "EngineArgs" || name == "LLM";
}

bool speaks_of(const PythonScript& script, std::string_view words) {
  return script.text().view().find(words) != std::string_view::npos;
}

/// Other libraries have a class LLM, too.
bool is_of_vllm(const PythonScript& script, const PythonCall& call) {
  return call.object.starts_with("vllm") || speaks_of(script, "from vllm") ||
         speaks_of(script, "import vllm");
}

/// Arguments of a class decide little about what it runs in; the call that takes it does.
EngineUse use_of(const PythonScript& script, const PythonCall& call) {
  if (call.name == "LLM" || speaks_of(script, "UsageContext.LLM_CLASS")) return EngineUse::kOffline;
  if (speaks_of(script, "UsageContext.OPENAI_API_SERVER")) return EngineUse::kServer;
  const bool unpacked = call.name == "EngineArgs" && speaks_of(script, "LLM(**");
  return unpacked ? EngineUse::kOffline : EngineUse::kEmbedded;
}

bool is_unpacked(const Node& argument) { return argument.scalar().starts_with("${*"); }

/// The model is the first argument, or a keyword; `**kwargs` may hold any other.
void add_engine(const PythonScript& script, const PythonCall& call, const Node& arguments,
                EngineStart start, FileContents& out) {
  const Node* first = arguments.items.empty() ? nullptr : arguments.items[0].get();
  if (arguments.find("model") == nullptr) {
    if (first == nullptr || !first->is_scalar() || is_unpacked(*first)) return;
    start.config.push_back(
        {word_over("model", first->text).text, arguments.items[0], is_known(*first)});
  }
  add_keys(arguments, start.config);
  for (const NodePtr& item : arguments.items) {
    if (is_unpacked(*item)) start.argv.push_back({item->text, false});
  }
  // Without GPUs at the workers it runs on another kind of accelerator.
  if (start.gpu.count && start.joins_ray_cluster) {
    fit_replica(&arguments, start.gpu.count->where, start);
  }
  start.use = use_of(script, call);
  if (!start.where) start.where = script.text().substr(call.at, call.name.size()).location();
  out.starts.push_back(std::move(start));
}

// vllm_engine_stage.py makes an AsyncLLMEngine of AsyncEngineArgs.
void add_processor(const Node& config, EngineStart start, FileContents& out) {
  start.use = EngineUse::kEmbedded;
  const Entry* model = config.find_entry("model_source");
  if (model == nullptr) return;
  start.joins_ray_cluster = true;
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

void add_python_engines(const PythonScript& script, const EngineStart& base, FileContents& out) {
  EngineStart start = base;
  start.serve = false;
  start.keys_are_arguments = true;
  size_t looked_at = 0;
  for (const PythonCall& call : script.calls()) {
    const bool processor = call.name == "vLLMEngineProcessorConfig";
    if (!makes_engine(call.name) && !processor && call.name != "LLMConfig") continue;
    if (++looked_at > kMaxEngines) break;
    const NodePtr arguments = script.arguments_of(call);
    if (arguments == nullptr) continue;
    if (call.name == "LLMConfig") {
      if (is_llm_config(*arguments)) add_llm_config(*arguments, base, out);
    } else if (processor) {
      add_processor(*arguments, start, out);
    } else if (base.joins_ray_cluster || is_of_vllm(script, call)) {
      add_engine(script, call, *arguments, start, out);
    }
  }
}

}  // namespace kvbudget
