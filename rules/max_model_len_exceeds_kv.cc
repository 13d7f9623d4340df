#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB103") return;
  const memory::Estimate& e = *d.estimate;
  Diagnostic& finding =
      reporter.report(d.where_of("max-model-len"),
                      "one request of " + memory::with_commas(e.max_model_len) + " tokens needs " +
                          memory::gib_text(e.needed_bytes) + " of KV cache, " + available_text(e) +
                          "; " + longest_text(d),
                      severity_of(e));
  add_budget_notes(d, finding);
  propose_length(d, finding);
}

}  // namespace

extern const Rule max_model_len_exceeds_kv_rule;
const Rule max_model_len_exceeds_kv_rule = {
    .id = "KVB103",
    .name = "max-model-len-exceeds-kv",
    .severity = Severity::kError,
    .summary = "the KV cache does not hold one request of max-model-len tokens",
    .doc = R"md(
## What it does
Compares the KV cache that one request of `max-model-len` tokens needs with what the GPU has left for it.

## Why it matters
vLLM refuses to start: "To serve at least one request with the models's max seq len, … GiB KV cache is needed,
which is larger than the available KV cache memory". It is the most reported start failure.

## How it is computed
The need follows the engine's own KV cache groups: full-attention layers keep every token, sliding windows keep
a window, tensor parallelism divides KV heads down to one per rank. What is available is
`gpu-memory-utilization` times the GPU's memory less weights, activation peak, library memory and, from 0.20,
CUDA graphs. An error means that the most favourable end of the estimate fails too; a warning, that only the
unfavourable end does.

## Fix
Lower `max-model-len` to the length named (or `auto`, from 0.14.0); or an 8-bit `kv-cache-dtype`, which doubles
it; or more GPUs with `tensor-parallel-size`, as long as there are KV heads to divide.

## Since which engine version
0.2; the groups of models with several kinds of attention since 0.10.

## References
vllm/v1/core/kv_cache_utils.py, `_check_enough_kv_cache_memory`; vLLM issues 2418, 10517, 16118, 34076.
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
        - --model=meta-llama/Llama-3.1-8B-Instruct
        - --max-model-len=131072  # expect: KVB103
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
        - --model=meta-llama/Llama-3.1-8B-Instruct
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
