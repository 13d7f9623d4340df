#include <algorithm>
#include <array>

#include "lint/engine/envs.h"
#include "lint/rule.h"
#include "rules/removal.h"

namespace kvbudget {
namespace {

enum class Platform { kUnknown, kNvidia, kAmd };

// The image decides before the card: a CPU image on a machine with a card is a CPU engine.
Platform platform_of(const Deployment& d) {
  if (d.start.image) {
    const std::string_view image = d.start.image->view();
    for (const std::string_view other : {"cpu", "xpu", "tpu", "gaudi", "hpu", "neuron", "ascend"}) {
      if (image.find(other) != std::string_view::npos) return Platform::kUnknown;
    }
  }
  const std::string_view resource = d.start.gpu.resource;
  if (d.gpu) {
    return d.gpu->vendor == "nvidia" ? Platform::kNvidia
           : d.gpu->vendor == "amd"  ? Platform::kAmd
                                     : Platform::kUnknown;
  }
  if (resource.starts_with("nvidia.com/")) return Platform::kNvidia;
  return resource.starts_with("amd.com/") ? Platform::kAmd : Platform::kUnknown;
}

struct Owner {
  std::string_view prefix;
  std::string_view platform;
  bool on_nvidia;  ///< the variable means something there
  bool on_amd;
};

// vllm/envs.py and vllm/platforms, 0.9 to 0.33.
constexpr std::array kOwners = {
    Owner{"VLLM_CPU_", "CPUs", false, false},
    Owner{"VLLM_ROCM_", "AMD GPUs", false, true},
    Owner{"VLLM_TPU_", "TPUs", false, false},
    Owner{"VLLM_XPU_", "Intel GPUs", false, false},
    Owner{"HIP_VISIBLE_DEVICES", "AMD GPUs", false, true},
    Owner{"ROCR_VISIBLE_DEVICES", "AMD GPUs", false, true},
    Owner{"HSA_", "AMD GPUs", false, true},
};

void check(const Deployment& d, Reporter& reporter) {
  const Platform platform = platform_of(d);
  if (platform == Platform::kUnknown) return;
  const bool nvidia = platform == Platform::kNvidia;
  for (const EnvVar& set : d.start.env) {
    const std::string_view name = set.name.view();
    const auto owner = std::find_if(kOwners.begin(), kOwners.end(),
                                    [&](const Owner& row) { return name.starts_with(row.prefix); });
    if (owner == kOwners.end() || !set.name.location()) continue;
    if (nvidia ? owner->on_nvidia : owner->on_amd) continue;
    if (find_env(name) != nullptr && !env_exists(name, d.version)) continue;
    Diagnostic& finding = reporter.report(
        set.name.location(), set.name.str() + " is for " + std::string(owner->platform) +
                                 " and has no effect on " + (nvidia ? "NVIDIA GPUs" : "AMD GPUs"));
    propose_removal(remove_variable(set), /*safe=*/true, "delete " + set.name.str(), finding);
  }
}

}  // namespace

extern const Rule variable_of_another_platform_rule;
const Rule variable_of_another_platform_rule = {
    .id = "KVB423",
    .name = "variable-of-another-platform",
    .severity = Severity::kInfo,
    .summary = "a variable that this platform ignores",
    .doc = R"md(
## What it does
Finds variables of CPUs, AMD GPUs, TPUs and Intel GPUs on an engine that runs on another platform.

## Why it matters
`VLLM_CPU_KVCACHE_SPACE` on a GPU looks like a budget for the KV cache and is none.

## How it is computed
From the variable's name and the platform that the card, its resource and the image tell.

## Fix
Delete it.

## Since which engine version
All.

## References
vllm/envs.py; vllm/platforms.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      env:
        - {name: VLLM_CPU_KVCACHE_SPACE, value: "40"}  # expect: KVB423
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
