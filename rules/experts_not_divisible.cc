#include <algorithm>

#include "lint/engine/json_text.h"
#include "lint/engine/numbers.h"
#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/parallel_sizes.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// Copies of experts for balancing: a flag up to 0.11, then a key of --eplb-config.
uint64_t redundant_experts(const Deployment& d) {
  if (const auto flag = d.settings.integer("num-redundant-experts")) {
    return static_cast<uint64_t>(std::max<int64_t>(*flag, 0));
  }
  const auto key = json_member(d.settings.text("eplb-config"), "num_redundant_experts");
  return static_cast<uint64_t>(std::max<int64_t>(python_int(key.value_or("0")).value_or(0), 0));
}

bool settings_are_known(const Deployment& d) {
  const Setting* config = d.settings.find("eplb-config");
  return config == nullptr || config->known;
}

// "EPLB currently only supports even distribution of experts across ranks" (fused_moe/layer.py).
void check(const Deployment& d, Reporter& reporter) {
  if (!is_moe(d) || !d.engine.expert_parallel || !settings_are_known(d)) return;
  if (!d.settings.is_true("enable-eplb") || !sizes_are_known(d)) return;
  const uint64_t ranks = uint64_t{d.engine.tensor_parallel} * d.engine.data_parallel *
                         std::max(d.engine.prefill_context_parallel, 1U);
  const uint64_t redundant = redundant_experts(d);
  const uint64_t experts = d.shape->num_experts + redundant;
  if (ranks < 2 || experts % ranks == 0) return;
  const std::string copies =
      redundant == 0 ? "" : " and " + std::to_string(redundant) + " redundant";
  Diagnostic& finding = reporter.report(d.where_of("enable-eplb"),
                                        std::to_string(d.shape->num_experts) + copies +
                                            " experts do not divide over " + std::to_string(ranks) +
                                            " expert-parallel ranks, as enable-eplb wants",
                                        exact_severity(d));
  finding.notes.push_back({"num_redundant_experts " +
                               std::to_string(redundant + ranks - experts % ranks) +
                               " would make them even",
                           {}});
}

}  // namespace

extern const Rule experts_not_divisible_rule;
const Rule experts_not_divisible_rule = {
    .id = "KVB313",
    .name = "experts-not-divisible",
    .severity = Severity::kError,
    .summary = "balanced experts do not divide over the expert-parallel ranks",
    .doc = R"md(
## What it does
Divides the experts, redundant copies included, by the expert-parallel ranks where the engine wants them even.

## Why it matters
vLLM stops: "EPLB currently only supports even distribution of experts across ranks". Without balancing the first ranks
simply hold one expert more.

## How it is computed
Experts of config.json and `num_redundant_experts` against tensor x data x prefill context parallelism, where
`enable-eplb` is set.

## Fix
`num_redundant_experts` that makes them even, or other sizes.

## Since which engine version
0.9.2, the first with balancing.

## References
vllm/model_executor/layers/fused_moe/layer.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen3-30B-A3B
        - --max-model-len=32768
        - --tensor-parallel-size=4
        - --enable-expert-parallel
        - --enable-eplb  # expect: KVB313
        - '--eplb-config={"num_redundant_experts": 2}'
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen3-30B-A3B
        - --max-model-len=32768
        - --tensor-parallel-size=4
        - --enable-expert-parallel
        - --enable-eplb
        - '--eplb-config={"num_redundant_experts": 4}'
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
