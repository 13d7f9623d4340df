#include <algorithm>
#include <array>
#include <optional>

#include "lint/engine/json_text.h"
#include "lint/rule.h"
#include "rules/removal.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr std::string_view kValue = "expandable_segments:True";

const EnvVar* allocator_variable(const Deployment& d) {
  for (const std::string_view name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const EnvVar* variable = d.env(name);
    if (variable == nullptr || !variable->known || !variable->name.location()) continue;
    if (variable->value.view().find(kValue) != std::string_view::npos) return variable;
  }
  return nullptr;
}

struct Conflict {
  std::string feature;
  std::string effect;
  Severity severity = Severity::kError;
  Location where;
};

// Cards whose boards connect all GPUs of a machine by NVLink; elsewhere custom all-reduce is off
// for more than two, and for two it depends on the machine (CustomAllreduce.__init__).
bool is_linked(const Gpu& gpu) {
  constexpr std::array<std::string_view, 10> kCards = {"A100",  "A800", "B200", "B300", "GB200",
                                                       "GB300", "H100", "H200", "H20",  "H800"};
  const std::string_view name = std::string_view(gpu.name).substr(0, gpu.name.find('-'));
  return std::find(kCards.begin(), kCards.end(), name) != kCards.end();
}

// CUDA graphs register their buffers with custom all-reduce by IPC handles, which memory of
// expandable segments does not have.
std::optional<Conflict> all_reduce(const Deployment& d) {
  const uint32_t ranks = d.engine.tensor_parallel;
  const bool one_machine = !d.start.nodes || d.start.nodes->value == 1;
  if (ranks != 2 && ranks != 4 && ranks != 6 && ranks != 8) return std::nullopt;
  if (!one_machine || d.start.joins_ray_cluster || d.engine.enforce_eager) return std::nullopt;
  if (d.settings.is_true("disable-custom-all-reduce")) return std::nullopt;
  if (d.gpu && d.gpu->vendor != "nvidia") return std::nullopt;
  const bool linked = d.gpu && is_linked(*d.gpu);
  if (!linked && ranks != 2) return std::nullopt;
  return Conflict{"custom all-reduce of tensor-parallel-size " + std::to_string(ranks),
                  "the engine stops after it has captured its CUDA graphs (custom_all_reduce.cuh, "
                  "invalid argument)",
                  linked ? Severity::kError : Severity::kWarning,
                  d.where_of("tensor-parallel-size")};
}

bool moves_kv_cache(const Deployment& d, std::string& connector) {
  connector = json_member(d.settings.text("kv-transfer-config"), "kv_connector").value_or("");
  return !connector.empty();
}

// VllmConfig._verify_kv_transfer_compat, 0.21 to 0.33.
std::optional<Conflict> transfer(const Deployment& d) {
  constexpr Version kRefused{0, 21, 0};
  std::string connector;
  if (!moves_kv_cache(d, connector)) return std::nullopt;
  if (d.settings.is_true("enable-sleep-mode") || d.settings.is_true("enable-cumem-allocator"))
    return std::nullopt;
  const Location where = d.where_of("kv-transfer-config");
  if (d.version >= kRefused) {
    return Conflict{"the KV connector " + connector, "the engine refuses both together",
                    exact_severity(d), where};
  }
  const bool pins = connector.starts_with("Nixl") || connector.starts_with("Mooncake");
  if (!pins) return std::nullopt;
  return Conflict{"the KV connector " + connector,
                  "its registered memory moves and transfers fail or corrupt the cache",
                  Severity::kWarning, where};
}

// CuMemAllocator asserts, until it switches the segments off inside its own pool.
std::optional<Conflict> sleep_mode(const Deployment& d) {
  const bool refused = d.version >= Version{0, 8, 0} && d.version < Version{0, 20, 0};
  if (!refused || !d.settings.is_true("enable-sleep-mode")) return std::nullopt;
  return Conflict{"enable-sleep-mode", "the engine's allocator refuses both together",
                  exact_severity(d), d.where_of("enable-sleep-mode")};
}

void check(const Deployment& d, Reporter& reporter) {
  const EnvVar* variable = allocator_variable(d);
  if (variable == nullptr || d.settings.opaque_words) return;
  // The checks of the engine look at the older name alone.
  const bool seen = variable->name.view() == "PYTORCH_CUDA_ALLOC_CONF";
  std::optional<Conflict> conflict;
  if (seen) conflict = transfer(d);
  if (!conflict && seen) conflict = sleep_mode(d);
  if (!conflict) conflict = all_reduce(d);
  if (!conflict) return;
  Diagnostic& finding = reporter.report(
      variable->name.location(),
      "expandable_segments does not work with " + conflict->feature + ": " + conflict->effect,
      conflict->severity);
  finding.notes.push_back({conflict->feature, conflict->where});
  if (variable->value.view() != kValue) return;
  propose_removal(remove_variable(*variable), /*safe=*/false, "delete " + variable->name.str(),
                  finding);
}

}  // namespace

extern const Rule expandable_segments_conflict_rule;
const Rule expandable_segments_conflict_rule = {
    .id = "KVB409",
    .name = "expandable-segments-conflict",
    .severity = Severity::kError,
    .summary = "expandable segments of PyTorch clash with a feature of the engine",
    .doc = R"md(
## What it does
Finds `expandable_segments:True` in PyTorch's allocator settings together with custom all-reduce, a KV connector or
sleep mode.

## Why it matters
PyTorch's own out-of-memory text recommends the setting, so it is added after an OOM. Its memory has no IPC handle and
may move: custom all-reduce crashes after graph capture, transfers of KV cache fail or corrupt it, sleep mode refuses.

## How it is computed
Custom all-reduce runs for 2, 4, 6 or 8 ranks of one machine with CUDA graphs; it is an error on cards that NVLink
connects and a warning for two cards otherwise. A KV connector is refused from 0.21 on unless sleep mode or
enable-cumem-allocator is on; before, it is a warning for connectors that register memory. Sleep mode is refused from
0.8 up to 0.19.

## Fix
Remove it, or `disable-custom-all-reduce`.

## Since which engine version
All for custom all-reduce.

## References
vllm/config/vllm.py, `_verify_kv_transfer_compat`; vllm/device_allocator/cumem.py; vLLM issues 9046, 14189, 29544,
40812, 41237, 42609, 43923.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  hostIPC: true
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-72B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      env:
        - {name: PYTORCH_CUDA_ALLOC_CONF, value: "expandable_segments:True"}  # expect: KVB409
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  hostIPC: true
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-72B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
