#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// The threshold was checked with concurrent partial prefills only, as long as there were such.
constexpr Version kAlwaysChecked{0, 27, 0};

void check_threshold(const Deployment& d, Reporter& reporter) {
  constexpr std::string_view kThreshold = "long-prefill-token-threshold";
  const auto threshold = d.settings.integer(kThreshold);
  const uint64_t length = d.engine.max_model_len;
  if (!threshold || *threshold <= 0 || length == 0 || !d.reads("max-model-len")) return;
  if (d.engine.auto_fit_max_model_len || static_cast<uint64_t>(*threshold) <= length) return;
  const bool partial = d.settings.integer("max-num-partial-prefills").value_or(1) > 1;
  if (d.version < kAlwaysChecked && !partial) return;
  Diagnostic& finding = reporter.report(
      d.where_of(kThreshold),
      std::string(kThreshold) + " " + memory::with_commas(static_cast<uint64_t>(*threshold)) +
          " cannot be greater than max-model-len " + memory::with_commas(length),
      exact_severity(d));
  propose_value(d, kThreshold, std::to_string(length), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.settings.opaque_words) return;
  check_threshold(d, reporter);
  const bool tokens_stated = d.settings.has("max-num-batched-tokens");
  const bool seqs_stated = d.settings.has("max-num-seqs");
  // What is not stated depends on the card.
  if (!tokens_stated && !seqs_stated) return;
  if (!(tokens_stated && seqs_stated) && (!d.gpu || !d.shape)) return;
  if (!d.reads("max-num-batched-tokens") || !d.reads("max-num-seqs")) return;
  const uint64_t tokens = d.engine.max_num_batched_tokens;
  const uint64_t seqs = d.engine.max_num_seqs;
  if (tokens == 0 || tokens >= seqs) return;
  const std::string_view at = tokens_stated ? "max-num-batched-tokens" : "max-num-seqs";
  Diagnostic& finding =
      reporter.report(d.where_of(at),
                      "max-num-batched-tokens " + memory::with_commas(tokens) +
                          " must be at least max-num-seqs " + memory::with_commas(seqs),
                      exact_severity(d));
  propose_value(d, "max-num-seqs", std::to_string(tokens), finding);
}

}  // namespace

extern const Rule batch_tokens_below_seqs_rule;
const Rule batch_tokens_below_seqs_rule = {
    .id = "KVB407",
    .name = "batch-tokens-below-seqs",
    .severity = Severity::kError,
    .summary = "a step has fewer tokens than sequences",
    .doc = R"md(
## What it does
Compares `max-num-batched-tokens` with `max-num-seqs`, and `long-prefill-token-threshold` with `max-model-len`.

## Why it matters
The engine refuses: "max_num_batched_tokens (256) must be greater than or equal to max_num_seqs (512)".

## How it is computed
The scheduler's own checks with the values in force. The threshold is checked with more than one partial prefill
before 0.27, always from then on.

## Fix
Fewer sequences, or more tokens.

## Since which engine version
All.

## References
vllm/config/scheduler.py, `verify_max_model_len`.
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
        - --max-num-batched-tokens=16  # expect: KVB407
        - --max-num-seqs=32
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
        - --max-num-batched-tokens=2048
        - --max-num-seqs=32
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
