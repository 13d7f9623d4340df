#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/smaller_batch.h"

namespace kvbudget {
namespace {

using memory::Obstacle;

// Activations are too large when they take that share of what weights leave of the budget.
constexpr double kLargeShare = 0.3;
std::string batch_text(const Deployment& d) {
  return "max-num-batched-tokens " + memory::with_commas(d.engine.max_num_batched_tokens) +
         (d.settings.has("max-num-batched-tokens") ? "" : " (the default)") + " reserves about " +
         memory::gib_text(d.estimate->term("activation")->bytes.best) + " for activations";
}

void report_obstacle(const Deployment& d, Reporter& reporter) {
  const memory::Estimate& e = *d.estimate;
  const bool named_here = rule_of_obstacle(d) == "KVB109";
  if (!named_here && !is_short_of_memory(e.obstacle)) return;
  const uint32_t tokens = batch_that_starts(d);
  if (tokens == 0 && !named_here) return;
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-batched-tokens"),
      batch_text(d) + (tokens == 0
                           ? "; " + e.because
                           : "; with " + memory::with_commas(tokens) + " the engine would start"),
      named_here ? severity_of(e) : Severity::kWarning);
  if (tokens != 0) {
    suggest_value(d, "max-num-batched-tokens", std::to_string(tokens), finding);
  }
}

void report_large(const Deployment& d, Reporter& reporter) {
  const memory::Estimate& e = *d.estimate;
  if (!d.settings.has("max-num-batched-tokens") || d.engine.kv_cache_memory_bytes) return;
  const uint32_t tokens = usual_batch(e.total_bytes);
  if (!may_be_lowered(d, tokens)) return;
  const uint64_t peak = e.term("activation")->bytes.best;
  const uint64_t beside_weights = memory::less(e.requested_bytes, e.term("weights")->bytes.best);
  if (static_cast<double>(peak) <= kLargeShare * static_cast<double>(beside_weights)) return;
  const memory::Estimate lower = what_if_batch(d, tokens);
  const uint64_t other = lower.term("activation")->bytes.best;
  if (other >= peak) return;
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-batched-tokens"),
      batch_text(d) + "; at " + memory::with_commas(tokens) + " it would be " +
          memory::gib_text(other) + " and the KV cache would grow from " +
          memory::gib_text(e.available.best) + " to " + memory::gib_text(lower.available.best));
  suggest_value(d, "max-num-batched-tokens", std::to_string(tokens), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.estimate) return;
  if (d.estimate->obstacle == Obstacle::kNone) return report_large(d, reporter);
  report_obstacle(d, reporter);
}

}  // namespace

extern const Rule activation_peak_too_large_rule;
const Rule activation_peak_too_large_rule = {
    .id = "KVB109",
    .name = "activation-peak-too-large",
    .severity = Severity::kWarning,
    .summary = "max-num-batched-tokens reserves memory that the KV cache needs",
    .doc = R"md(
## What it does
Asks what the start would look like with the engine's usual `max-num-batched-tokens`: whether it succeeds where the
one in force fails, and how far the KV cache grows where activations take more than 30 % of what weights leave.

## Why it matters
The profile run pushes one full batch through the model and keeps its peak free for ever. Copied values of 32,768
and more take gigabytes of KV cache without making anything faster, since prefill is chunked anyway.

## How it is computed
The estimate of this deployment, once with the batch in force and once with 8,192 tokens (2,048 on GPUs below
70 GiB). An error only where the profile run itself certainly runs out of memory.

## Fix
The lower `max-num-batched-tokens`; chunked prefill makes long prompts work with any. Prefill nodes of disaggregated
services want large batches: ignore the finding there.

## Since which engine version
All; the V1 engine chunks prefill by default (0.8).

## References
vllm/v1/worker/gpu_model_runner.py, `profile_run`; vLLM issues 13604, 16886, 37626, 47982.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-a100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=16384
        - --max-num-batched-tokens=65536  # expect: KVB109
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-a100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=16384
        - --max-num-batched-tokens=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
