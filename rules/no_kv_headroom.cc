#include "lint/memory/explain.h"
#include "lint/memory/format.h"
#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// Proposes the utilisation that leaves room for one request, where a sane one does.
void propose_utilization(const Deployment& d, Diagnostic& finding) {
  const double utilization = memory::smallest_utilization(*d.shape, d.engine, d.card());
  if (utilization == 0.0) return;
  suggest_value(d, "gpu-memory-utilization", memory::decimal_text(utilization, 2), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB102") return;
  const memory::Estimate& e = *d.estimate;
  Diagnostic& finding = reporter.report(
      d.where_of("gpu-memory-utilization"),
      "no room for KV cache: " + memory::budget_text(e, d.engine) + " = " +
          memory::gib_text(e.available.best) +
          (e.obstacle_certain ? "" : ", at best " + memory::gib_text(e.available.high)),
      severity_of(e));
  propose_utilization(d, finding);
}

}  // namespace

extern const Rule no_kv_headroom_rule;
const Rule no_kv_headroom_rule = {
    .id = "KVB102",
    .name = "no-kv-headroom",
    .severity = Severity::kError,
    .summary = "nothing is left for the KV cache after weights and overhead",
    .doc = R"md(
## What it does
Finds engines whose share of the GPU is used up before the first block of KV cache.

## Why it matters
vLLM refuses to start: "No available memory for the cache blocks. Try increasing `gpu_memory_utilization`".

## How it is computed
`gpu-memory-utilization` times the GPU's memory, less weights, activation peak, library memory and, from 0.20,
CUDA graphs. An error when even the most favourable end of the estimate leaves nothing, a warning when the
unfavourable end does. `kv-cache-memory-bytes` turns the check off, as it does in the engine.

## Fix
A higher `gpu-memory-utilization` where one helps (up to 0.95), else more GPUs or a quantised checkpoint.

## Since which engine version
0.2; CUDA graphs count from 0.20.

## References
vllm/v1/core/kv_cache_utils.py, `_check_enough_kv_cache_memory`; vLLM issues 2248, 7028, 22173.
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
        - --gpu-memory-utilization=0.65  # expect: KVB102
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
        - --gpu-memory-utilization=0.9
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
