#include <algorithm>
#include <cmath>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  constexpr double kFar = 4.0;
  constexpr uint64_t kUndeclared = 1024;  // tokens of a short chat
  if (!has_cache(d) || !d.settings.has("max-num-seqs")) return;
  const auto load = engine_load(d);
  const uint64_t tokens =
      load ? load->tokens : std::min<uint64_t>(kUndeclared, d.estimate->max_model_len);
  const auto held = held_requests(d, tokens, load ? load->shared_prefix : 0);
  const double seqs = d.engine.max_num_seqs;
  if (seqs <= kFar * std::max(held.high, 1.0)) return;
  const auto twice = static_cast<uint64_t>(std::max(2.0 * std::ceil(held.best), 1.0));
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-seqs"), "max-num-seqs " + memory::with_commas(d.engine.max_num_seqs) +
                                      ", but the KV cache holds about " + count_text(held.best) +
                                      " requests of " + memory::with_commas(tokens) + " tokens; " +
                                      memory::with_commas(twice) +
                                      " places, twice as many, leave room for shorter ones");
  propose_value(d, "max-num-seqs", std::to_string(twice), finding);
}

}  // namespace

extern const Rule max_num_seqs_far_above_capacity_rule;
const Rule max_num_seqs_far_above_capacity_rule = {
    .id = "KVB602",
    .name = "max-num-seqs-far-above-capacity",
    .severity = Severity::kInfo,
    .summary = "max-num-seqs is far more than the KV cache holds",
    .doc = R"md(
## What it does
Compares a `max-num-seqs` that the file states with the requests that the KV cache holds.

## Why it matters
Places that are never taken cost CUDA graphs, sampler buffers and, for recurrent models, states; and a burst fills
the cache with requests that then preempt each other.

## How it is computed
More than four times the requests that the largest cache of the estimate holds; of the declared length (KVB601),
or of 1,024 tokens where none is declared.

## Fix
About twice what the cache holds.

## Since which engine version
All.

## References
vLLM documentation, "Conserving Memory"; vLLM issues 16886, 43308.
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
        - --max-num-seqs=1024  # expect: KVB602
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
        - --max-num-seqs=64
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
