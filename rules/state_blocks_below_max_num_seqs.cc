#include "lint/memory/format.h"
#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB118") return;
  const memory::Estimate& e = *d.estimate;
  const std::string blocks = e.low.num_blocks == e.high.num_blocks
                                 ? memory::with_commas(e.best.num_blocks)
                                 : "about " + memory::with_commas(e.best.num_blocks) + " (" +
                                       memory::with_commas(e.low.num_blocks) + " to " +
                                       memory::with_commas(e.high.num_blocks) + ")";
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-seqs"),
      "this model keeps recurrent state, a block for each sequence: the cache has " + blocks +
          ", max-num-seqs is " + memory::with_commas(d.engine.max_num_seqs) +
          (d.settings.has("max-num-seqs") ? "" : " by default"),
      severity_of(e));
  add_budget_notes(d, finding);
  const uint32_t fewer = memory::fewer_sequences(*d.shape, d.engine, d.card());
  if (fewer == 0) return;
  suggest_value(d, "max-num-seqs", std::to_string(fewer), finding);
  if (!d.settings.has("max-num-seqs")) {
    propose_argument(d, "--max-num-seqs=" + std::to_string(fewer), finding);
  }
}

}  // namespace

extern const Rule state_blocks_below_max_num_seqs_rule;
const Rule state_blocks_below_max_num_seqs_rule = {
    .id = "KVB118",
    .name = "state-blocks-below-max-num-seqs",
    .severity = Severity::kError,
    .summary = "max-num-seqs is more than the cache has blocks for recurrent state",
    .doc = R"md(
## What it does
Compares `max-num-seqs` with the blocks of the KV cache for models that mix attention with recurrent layers (Mamba, gated
delta, linear attention).

## Why it matters
vLLM refuses to start: "max_num_seqs (1024) exceeds available Mamba cache blocks (614)". The default does it: 1,024 on
any GPU of 70 GiB and more.

## How it is computed
The blocks that the engine's own plan makes of what is left, where one block holds a recurrent state and attention blocks
are enlarged to that. Checked with whole CUDA graphs only. An error when even the favourable end of the estimate has too
few blocks.

## Fix
The `max-num-seqs` that is named.

## Since which engine version
0.20.

## References
vllm/config/compilation.py, `adjust_cudagraph_sizes_for_mamba_cache`; vLLM issues 38270, 38632, 49064, 55148.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.26.0
      args:
        - --model=Qwen/Qwen3.5-35B-A3B  # expect: KVB118
        - --max-model-len=8192
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
      image: vllm/vllm-openai:v0.26.0
      args:
        - --model=Qwen/Qwen3.5-35B-A3B
        - --max-model-len=8192
        - --max-num-seqs=64
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
