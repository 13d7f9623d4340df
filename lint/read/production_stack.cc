// vLLM production-stack: values of its Helm chart (`servingEngineSpec.modelSpec`) and the
// operator's VLLMRuntime.
//
// Keys are those of the chart's templates helm/templates/deployment-vllm-multi.yaml and
// ray-cluster.yaml, and of operator/internal/controller/vllmruntime_controller.go
// (github.com/vllm-project/production-stack, August 2026). What the chart adds whatever the values
// say (`--host`, `--port`) is left out.

#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 6;  // of the values below the root: umbrella charts, HelmRelease

constexpr std::array kModelFlags = {
    KeyFlag{"enableLoRA", "enable-lora", KeyForm::kSwitch},
    KeyFlag{"enableTool", "enable-auto-tool-choice", KeyForm::kSwitch},
    KeyFlag{"toolCallParser", "tool-call-parser"},
};

constexpr std::array kRevisionFlag = {KeyFlag{"modelRevision", "revision"}};

// Of the chart's `vllmConfig`.
constexpr std::array kChartFlags = {
    KeyFlag{"enableChunkedPrefill", "enable-chunked-prefill", KeyForm::kPair},
    KeyFlag{"enablePrefixCaching", "enable-prefix-caching", KeyForm::kPair},
    KeyFlag{"maxModelLen", "max-model-len"},
    KeyFlag{"dtype", "dtype"},
    KeyFlag{"tensorParallelSize", "tensor-parallel-size"},
    KeyFlag{"pipelineParallelSize", "pipeline-parallel-size"},
    KeyFlag{"maxNumSeqs", "max-num-seqs"},
    KeyFlag{"gpuMemoryUtilization", "gpu-memory-utilization"},
    KeyFlag{"maxLoras", "max-loras"},
    KeyFlag{"runner", "runner"},
    KeyFlag{"convert", "convert"},
    KeyFlag{"extraArgs", "", KeyForm::kWords},
};

// Of the operator: `spec.model` and `spec.vllmConfig`.
constexpr std::array kRuntimeModelFlags = {
    KeyFlag{"maxModelLen", "max-model-len"},
    KeyFlag{"dtype", "dtype"},
    KeyFlag{"maxNumSeqs", "max-num-seqs"},
};
constexpr std::array kRuntimeFlags = {
    KeyFlag{"port", "port"},
    KeyFlag{"enableChunkedPrefill", "enable-chunked-prefill", KeyForm::kPair},
    KeyFlag{"enablePrefixCaching", "enable-prefix-caching", KeyForm::kPair},
    KeyFlag{"tensorParallelSize", "tensor-parallel-size"},
    KeyFlag{"gpuMemoryUtilization", "gpu-memory-utilization"},
    KeyFlag{"maxLoras", "max-loras"},
};
constexpr std::array kExtraArguments = {KeyFlag{"extraArgs", "", KeyForm::kWords}};

/// `--kv-transfer-config` and the variable that LMCache brings along.
void add_lmcache(RenderedPod& pod, const Location& where, bool v1, std::string_view role) {
  const std::string connector = v1 ? "LMCacheConnectorV1" : "LMCacheConnector";
  const std::string config =
      "{\"kv_connector\":\"" + connector + "\",\"kv_role\":\"" + std::string(role) + "\"}";
  pod.add_argument("--kv-transfer-config", *text_at(config, where));
  pod.add_variable("VLLM_RPC_TIMEOUT", "1000000", where);
}

// The role's remaining settings (ports, NIXL) do not matter to the engine's memory.
void add_chart_lmcache(const Node& model, RenderedPod& pod) {
  const Node* lmcache = model.find("lmcacheConfig");
  const Node* enabled = lmcache == nullptr ? nullptr : lmcache->find("enabled");
  if (is_true(enabled)) {
    const bool v0 = text_of(model.find("vllmConfig"), "v0") == "1";
    const std::string_view role = text_of(lmcache, "kvRole");
    add_lmcache(pod, enabled->where, !v0, role.empty() ? "kv_both" : role);
  }
  if (NodePtr devices = share(lmcache, "cudaVisibleDevices")) {
    pod.add_variable("CUDA_VISIBLE_DEVICES", devices);
  }
}

// `v1` is of charts before 2026.
void add_generation(const Node* config, RenderedPod& pod) {
  const Node* v0 = config == nullptr ? nullptr : config->find("v0");
  if (v0 != nullptr && v0->scalar() == "1") {
    pod.add_variable("VLLM_USE_V1", "0", v0->where);
  } else if (NodePtr v1 = share(config, "v1")) {
    pod.add_variable("VLLM_USE_V1", v1);
  }
}

/// None when the chart is asked for none.
NodePtr gpus_of(std::string_view resource, NodePtr count) {
  if (count == nullptr || count->scalar() == "0") return nullptr;
  return limits_of(resource.empty() ? "nvidia.com/gpu" : resource, std::move(count));
}

/// A RayCluster is one engine over its head and its workers.
void set_ray_nodes(const Node& model, EngineStart& base) {
  base.joins_ray_cluster = true;
  if (!base.replicas) return;
  const auto head = number_of(model.at({"raySpec", "headNode", "requestGPU"}));
  const uint32_t workers = base.replicas->value;
  const uint32_t with_gpus = workers + (head && head->value > 0 ? 1 : 0);
  if (with_gpus > 1) base.nodes = {with_gpus, base.replicas->where};
  base.replicas = {1, base.replicas->where};
}

void add_chart_arguments(const Node& model, RenderedPod& pod) {
  const Node* config = model.find("vllmConfig");
  pod.serve(share(&model, "modelURL").get());
  add_flags(&model, kModelFlags, pod.args);
  add_flags(config, kChartFlags, pod.args);
  // Here the chart does not look, but the words are plainly meant for the engine.
  add_flags(&model, kExtraArguments, pod.args);
  add_flags(&model, kRevisionFlag, pod.args);
  add_chart_lmcache(model, pod);
  if (NodePtr chat = share(&model, "chatTemplate")) {
    pod.add_argument("--chat-template", *join(text_at("/templates", chat->where), '/', chat));
  }
}

void read_model(const YamlFile& yaml, const Node& model, const Node& engine, FileContents& out) {
  if (!model.is_mapping() || is_false(model.find("enabled"))) return;
  if (!yaml.limit.spend_on(model)) return;
  RenderedPod pod(yaml, "helm-values", "modelSpec/" + std::string(text_of(&model, "name")),
                  first_key(model));
  pod.base.replicas = number_of(model.find("replicaCount"));
  if (is_true(model.at({"raySpec", "enabled"}))) set_ray_nodes(model, pod.base);

  pod.image = join(share(&model, "repository"), ':', share(&model, "tag"));
  add_generation(model.find("vllmConfig"), pod);
  pod.add_variables(engine.find("env"));
  pod.add_variables(model.find("env"));
  add_chart_arguments(model, pod);
  pod.resources = share(&model, "resources");
  if (!is_true(pod.resources.get())) {
    pod.resources = gpus_of(text_of(&model, "requestGPUType"), share(&model, "requestGPU"));
  }
  pod.node_selector = share(&model, "nodeSelector");
  if (pod.node_selector == nullptr) pod.node_selector = share(&engine, "nodeSelector");
  pod.affinity = share(&model, "affinity");
  if (!is_true(pod.affinity.get())) pod.affinity = affinity_of(share(&model, "nodeSelectorTerms"));
  read_rendered_pod(yaml, std::move(pod), out);
}

bool find_engine_spec(const YamlFile& yaml, const Node& node, int depth, FileContents& out) {
  if (!node.is_mapping() || depth > kMaxDepth || !yaml.limit.spend(64)) return false;
  const Node* engine = node.find("servingEngineSpec");
  const Node* models = engine == nullptr ? nullptr : engine->find("modelSpec");
  if (models != nullptr && models->is_sequence()) {
    if (is_false(engine->find("enableEngine"))) return true;
    for (const NodePtr& model : models->items) read_model(yaml, *model, *engine, out);
    return true;
  }
  bool found = false;
  for (const Entry& entry : node.entries) {
    if (find_engine_spec(yaml, *entry.value, depth + 1, out)) found = true;
  }
  return found;
}

/// The first version of the resource had no groups.
const Node* group_of(const Node& spec, std::string_view key) {
  const Node* group = spec.find(key);
  return group == nullptr ? &spec : group;
}

void add_runtime_arguments(const Node& spec, RenderedPod& pod) {
  const Node* model = spec.find("model");
  const Node* config = group_of(spec, "vllmConfig");
  pod.serve(share(model, "modelURL").get());
  add_flags(model, kModelFlags, pod.args);
  add_flags(config, kRuntimeFlags, pod.args);
  add_flags(model, kRuntimeModelFlags, pod.args);
  add_flags(config, kExtraArguments, pod.args);
  const Node* v1 = config->find("v1");
  if (v1 != nullptr) pod.add_variable("VLLM_USE_V1", is_true(v1) ? "1" : "0", v1->where);
  if (const Node* lora = spec.at({"model", "enableLoRA"}); is_true(lora)) {
    pod.add_variable("VLLM_ALLOW_RUNTIME_LORA_UPDATING", "True", lora->where);
  }
  if (const Node* lmcache = spec.at({"lmCacheConfig", "enabled"}); is_true(lmcache)) {
    add_lmcache(pod, lmcache->where, is_true(v1), "kv_both");
  }
  pod.add_variables(config->find("env"));
}

}  // namespace

bool read_production_stack(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (yaml.file.bytes().find("servingEngineSpec") == std::string_view::npos) return false;
  return find_engine_spec(yaml, root, 0, out);
}

bool read_vllm_runtime(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* spec = root.find("spec");
  if (text_of(&root, "kind") != "VLLMRuntime" || spec == nullptr) return false;
  if (spec->find("model") == nullptr || !yaml.limit.spend_on(*spec)) return true;
  RenderedPod pod(yaml, "vllm-runtime",
                  "VLLMRuntime/" + std::string(text_of(root.find("metadata"), "name")),
                  first_key(root));
  const Node* deployment = group_of(*spec, "deploymentConfig");
  const Node* image = deployment->find("image");
  const Node* resources = deployment->find("resources");
  pod.base.replicas = number_of(deployment->find("replicas"));
  pod.image = join(share(image, "registry"), '/', share(image, "name"));
  pod.resources = gpus_of(text_of(resources, "gpuType"), share(resources, "gpu"));
  pod.affinity = affinity_of(share(deployment, "nodeSelectorTerms"));
  add_runtime_arguments(*spec, pod);
  read_rendered_pod(yaml, std::move(pod), out);
  return true;
}

}  // namespace kvbudget
