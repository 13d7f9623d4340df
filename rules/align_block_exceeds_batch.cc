#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB122") return;
  const uint32_t block = d.estimate->attention_block_tokens();
  Diagnostic& finding =
      reporter.report(d.where_of("max-num-batched-tokens"),
                      "this model's cache blocks hold " + memory::with_commas(block) +
                          " tokens with prefix caching, max-num-batched-tokens " +
                          memory::with_commas(d.engine.max_num_batched_tokens) +
                          (d.settings.has("max-num-batched-tokens") ? "" : " (the default)") +
                          " cannot fill one; the engine refuses to start",
                      exact_severity(d));
  suggest_value(d, "max-num-batched-tokens", std::to_string(block), finding);
  finding.notes.push_back({"or --no-enable-prefix-caching", {}});
}

}  // namespace

extern const Rule align_block_exceeds_batch_rule;
const Rule align_block_exceeds_batch_rule = {
    .id = "KVB122",
    .name = "align-block-exceeds-batch",
    .severity = Severity::kError,
    .summary = "a cache block of a hybrid model holds more tokens than one step",
    .doc = R"md(
## What it does
Compares the block size that recurrent state forces on a hybrid model with `max-num-batched-tokens`, where prefix caching
aligns states to blocks.

## Why it matters
The engine stops on an assertion: "In Mamba cache align mode, block_size must be <= max_num_batched_tokens". Nobody sets
that block size; it follows from the model.

## How it is computed
Attention blocks grow until their page holds one recurrent state. The check is the engine's own.

## Fix
A larger `max-num-batched-tokens`, or no prefix caching.

## Since which engine version
0.17 to 0.26.

## References
vllm/config/vllm.py, `validate_block_size`; vLLM issue 34445.
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
        - --model=Qwen/Qwen3.5-35B-A3B
        - --max-model-len=8192
        - --max-num-seqs=16
        - --enable-prefix-caching  # expect: KVB212
        - --max-num-batched-tokens=512  # expect: KVB122
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
        - --max-num-seqs=16
        - --max-num-batched-tokens=512
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
