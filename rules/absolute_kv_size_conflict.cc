#include "lint/memory/explain.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

// The largest cache that starts at the pessimistic end, in whole MiB; 0 where the length does not
// fit into it.
uint64_t largest_cache(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  const uint64_t taken = memory::add(e.used.high, e.outside.high);
  const uint64_t fits = memory::less(d.card().lowest(), taken) / memory::kMiB * memory::kMiB;
  if (fits == 0) return 0;
  const auto change = [&](memory::EngineSettings& s) { s.kv_cache_memory_bytes = fits; };
  return what_if(d, change).obstacle == memory::Obstacle::kNone ? fits : 0;
}

void report_obstacle(const Deployment& d, Reporter& reporter) {
  const memory::Estimate& e = *d.estimate;
  const uint64_t cache = memory::fixed_cache_bytes(d.engine, e);
  const uint64_t worst = memory::add(cache, memory::add(e.used.high, e.outside.high));
  const uint64_t sum = memory::add(cache, memory::add(e.used.best, e.outside.best));
  Diagnostic& finding = reporter.report(
      d.where_of("kv-cache-memory-bytes"),
      "kv-cache-memory-bytes of " + memory::gib_text(cache) + ", " + memory::gib_text(e.used.best) +
          " of weights and activations and " + memory::gib_text(e.outside.best) + " of contexts" +
          (e.term("cuda_graphs")->in_budget ? "" : ", CUDA graphs") + " and warm-up are " +
          memory::gib_text(sum) +
          (sum > e.total_bytes ? "" : ", at worst " + memory::gib_text(worst)) + "; " +
          d.gpu->name + " has " + memory::gib_text(e.total_bytes),
      severity_of(e));
  if (const uint64_t fits = largest_cache(d); fits != 0) {
    suggest_value(d, "kv-cache-memory-bytes", std::to_string(fits), finding);
  }
}

// The share sizes nothing, but the start check still compares it with what is free.
void report_share(const Deployment& d, Reporter& reporter) {
  const double share = d.engine.gpu_memory_utilization;
  Diagnostic& finding = reporter.report(
      d.where_of("gpu-memory-utilization"),
      "gpu-memory-utilization " + memory::decimal_text(share, 3) +
          " does not size the KV cache: kv-cache-memory-bytes does, without profiling");
  if (d.estimate) {
    const memory::Estimate& e = *d.estimate;
    const uint64_t used = memory::add(memory::fixed_cache_bytes(d.engine, e), e.used.best);
    finding.notes.push_back({"about " + memory::gib_text(used) + " of " +
                                 memory::gib_text(e.total_bytes) + " will be used",
                             {}});
  }
  finding.notes.push_back(
      {"drop one of the two; the share still sets how much has to be free at start", {}});
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.engine.kv_cache_memory_bytes) return;
  if (rule_of_obstacle(d) == "KVB116") return report_obstacle(d, reporter);
  if (d.estimate && d.estimate->obstacle_certain) return;
  // A plan is made from the share; its flag then pins what came out.
  const bool planned = d.settings.text("scheduler-cls") == kScheduler;
  if (d.settings.has("gpu-memory-utilization") && !planned) report_share(d, reporter);
}

}  // namespace

extern const Rule absolute_kv_size_conflict_rule;
const Rule absolute_kv_size_conflict_rule = {
    .id = "KVB116",
    .name = "absolute-kv-size-conflict",
    .severity = Severity::kWarning,
    .summary = "kv-cache-memory-bytes contradicts the GPU or gpu-memory-utilization",
    .doc = R"md(
## What it does
Checks that a KV cache of a fixed size fits the GPU beside everything else, and points out a `gpu-memory-utilization` that
stands beside it.

## Why it matters
The engine takes the size at its word: it skips the measurement, and a size that is too large ends in "CUDA out of
memory". A utilisation beside it looks like a limit and is none.

## How it is computed
`kv-cache-memory-bytes` with weights, activation peak and library memory against the GPU. An error when even the
favourable end of the estimate does not fit. A size below one request of `max-model-len` is KVB103.

## Fix
One of the two. The size that fits is named.

## Since which engine version
0.10.2.

## References
vllm/v1/worker/gpu_worker.py, `determine_available_memory`; vLLM issues 21489, 47356, 49816.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --kv-cache-memory-bytes=40G
        - --gpu-memory-utilization=0.5  # expect: KVB116
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --kv-cache-memory-bytes=40G
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
