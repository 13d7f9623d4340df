// Fields: ray.serve.llm.LLMConfig
// (python/ray/llm/_internal/serve/core/configs/llm_config.py, 2.52). `engine_kwargs` go to vLLM's
// AsyncEngineArgs, with the model of `model_loading_config` and its id as the served name. One
// replica takes TP x PP GPUs, from several workers if one has fewer.

#include "lint/read/ray_llm.h"

#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"

namespace kvbudget {
namespace {

void add_model(const Node& config, std::vector<ConfigKey>& keys) {
  const Node* loading = config.find("model_loading_config");
  if (loading == nullptr) return;
  const Entry* id = loading->find_entry("model_id");
  const Entry* source = loading->find_entry("model_source");
  const bool has_source = source != nullptr && source->value->kind != Node::Kind::kNull;
  const Entry* model = has_source ? source : id;
  if (model != nullptr && model->value->is_scalar()) keys.push_back(renamed_key(*model, "model"));
  if (model != nullptr && model->value->is_mapping()) {  // a bucket that is mirrored to disk
    const Entry* bucket = model->value->find_entry("bucket_uri");
    if (bucket != nullptr) keys.push_back(renamed_key(*bucket, "model"));
  }
  if (id != nullptr) keys.push_back(renamed_key(*id, "served-model-name"));
}

/// GPUs of one replica; nullopt when a size is not a number.
std::optional<Located<uint32_t>> gpus_of_replica(const Node* kwargs, const Location& otherwise) {
  Located<uint32_t> total{1, otherwise};
  if (kwargs == nullptr) return total;
  for (const std::string_view name :
       {"data_parallel_size", "pipeline_parallel_size", "tensor_parallel_size"}) {
    const Node* node = kwargs->find(name);
    if (node == nullptr || node->kind == Node::Kind::kNull) continue;
    const auto size = number_of(node);
    if (!size || size->value == 0 || size->value > 4096 || total.value > 4096) return std::nullopt;
    total = {total.value * size->value, size->where};
  }
  return total;
}

void read_gpus(const Node& config, EngineStart& start) {
  const Node* type = config.find("accelerator_type");
  if (type != nullptr && type->is_scalar() && !has_placeholder(type->scalar())) {
    start.gpu.name = {std::string(type->scalar()), type->where};
  }
  fit_replica(config.find("engine_kwargs"), config.where, start);
}

void read_replicas(const Node& config, EngineStart& start) {
  const Node* deployment = config.find("deployment_config");
  if (deployment == nullptr) return;
  start.replicas = number_of(deployment->find("num_replicas"));
  if (start.replicas) return;
  start.replicas = number_of(deployment->at({"autoscaling_config", "min_replicas"}));
}

}  // namespace

void fit_replica(const Node* kwargs, const Location& otherwise, EngineStart& start) {
  const auto of_worker = start.gpu.count;
  const auto total = gpus_of_replica(kwargs, otherwise);
  if (!total || (of_worker && of_worker->value == 0)) return;
  if (of_worker && total->value > of_worker->value) {
    start.nodes = {(total->value + of_worker->value - 1) / of_worker->value, of_worker->where};
  } else {
    start.gpu.count = total;
  }
}

bool is_llm_config(const Node& node) {
  return node.is_mapping() &&
         (node.find("model_loading_config") != nullptr || node.find("engine_kwargs") != nullptr);
}

void add_llm_config(const Node& config, const EngineStart& base, FileContents& out) {
  const Node* engine = config.find("llm_engine");
  if (engine != nullptr && engine->scalar() != "vLLM" && engine->scalar() != "VLLM") return;
  EngineStart start = base;
  start.where = first_key(config);
  start.serve = false;
  start.serves_traffic = true;
  start.keys_are_arguments = true;
  start.joins_ray_cluster = true;
  add_model(config, start.config);
  if (const Node* kwargs = config.find("engine_kwargs")) add_keys(*kwargs, start.config);
  add_variables(config.at({"runtime_env", "env_vars"}), start.env);
  read_gpus(config, start);
  read_replicas(config, start);
  out.starts.push_back(std::move(start));
}

}  // namespace kvbudget
