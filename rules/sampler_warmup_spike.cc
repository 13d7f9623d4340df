#include "lint/memory/format.h"
#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

std::string message(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  const std::string start = "max-num-seqs " + std::to_string(d.engine.max_num_seqs) +
                            (d.settings.has("max-num-seqs") ? "" : " (the default)");
  const std::string over = " over a vocabulary of " + memory::with_commas(d.shape->vocab_size);
  if (e.obstacle == memory::Obstacle::kActivationExceedsMemory) {
    return start + ": sampling" + over + " is the peak; " + e.because;
  }
  return start + ": the sampler's warm-up" + over + ", contexts and graphs take about " +
         memory::gib_text(e.outside.best) + " (at most " + memory::gib_text(e.outside.high) +
         ") once the cache is there; " + memory::gib_text(left_beside_budget(d)) + " of " +
         d.gpu->name + " is left";
}

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB107") return;
  Diagnostic& finding =
      reporter.report(d.where_of("max-num-seqs"), message(d), severity_of(*d.estimate));
  const uint32_t fewer = memory::fewer_sequences(*d.shape, d.engine, d.card());
  if (fewer != 0) suggest_value(d, "max-num-seqs", std::to_string(fewer), finding);
  if (fewer == 0 && memory::is_beside_budget(d.estimate->obstacle)) {
    finding.notes.push_back({"lower gpu-memory-utilization", {}});
  }
}

}  // namespace

extern const Rule sampler_warmup_spike_rule;
const Rule sampler_warmup_spike_rule = {
    .id = "KVB107",
    .name = "sampler-warmup-spike",
    .severity = Severity::kWarning,
    .summary = "the sampler's warm-up finds no memory beside the KV cache",
    .doc = R"md(
## What it does
Compares what the sampler needs for `max-num-seqs` sequences over the model's vocabulary with the memory that is
left once the KV cache is allocated.

## Why it matters
The last step of a start ends with "CUDA out of memory occurred when warming up sampler with N dummy requests".
The releases 0.8.0 to 0.8.3 take 1,024 sequences on every GPU, and model runner V2 profiles without sampling, so
that no budget has room for it.

## How it is computed
What the release's sampler holds per sequence and word (38 bytes up to 0.16, where it sorts; 14 from 0.17; about 7 on
runner V2), less the profile run's peak, which is free again by then, beside CUDA contexts and graphs. An error
when even the favourable end of the estimate does not fit.

## Fix
Fewer `max-num-seqs`, or a lower `gpu-memory-utilization`.

## Since which engine version
0.8, the V1 engine.

## References
vllm/v1/worker/gpu_worker.py, `compile_or_warm_up_model`; vLLM issues 14452, 15105, 17939, 27508, 29049.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-4090}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.26.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --gpu-memory-utilization=0.95
        - --max-num-seqs=1024  # expect: KVB107, KVB602
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-4090}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.26.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --gpu-memory-utilization=0.9
        - --max-num-seqs=128
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
