#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/obstacle_rule.h"

namespace kvbudget {
namespace {

memory::Estimate without_draft(const Deployment& d) {
  memory::EngineSettings settings = d.engine;
  settings.num_speculative_tokens = 0;
  return memory::estimate(*d.without_draft, settings, d.card());
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || !d.without_draft || !is_short_of_memory(d.estimate->obstacle)) return;
  const memory::Estimate& e = *d.estimate;
  const memory::Estimate alone = without_draft(d);
  if (alone.obstacle != memory::Obstacle::kNone) return;
  const uint64_t weights =
      memory::less(e.term("weights")->bytes.best, alone.term("weights")->bytes.best);
  Diagnostic& finding = reporter.report(
      d.where_of(d.settings.has("speculative-config") ? "speculative-config" : "speculative-model"),
      "speculative decoding adds " + memory::gib_text(weights) + " of weights and " +
          std::to_string(memory::less(e.bytes_per_token, alone.bytes_per_token) / memory::kKiB) +
          " KiB of KV cache per token; without it the engine would start");
  if (e.best.longest_context != 0) {
    finding.notes.push_back(
        {"the longest request is " + memory::with_commas(e.best.longest_context) +
             " tokens instead of " + memory::with_commas(alone.best.longest_context),
         {}});
  }
  finding.notes.push_back(
      {"n-gram drafting needs no weights; an EAGLE head is smaller than a model", {}});
}

}  // namespace

extern const Rule draft_model_unbudgeted_rule;
const Rule draft_model_unbudgeted_rule = {
    .id = "KVB112",
    .name = "draft-model-unbudgeted",
    .severity = Severity::kWarning,
    .summary = "what drafts tokens takes the memory that the model needs to start",
    .doc = R"md(
## What it does
Asks whether a deployment that is short of memory would start without its draft model, EAGLE head or prediction layers.

## Why it matters
Both the draft's weights and its cache come out of the same budget. A configuration that served for months stops
starting on the day speculative decoding is added, and the message names only the context length.

## How it is computed
The estimate of this deployment with the draft and without it. The rule that names the failure speaks too; this one
says what caused it.

## Fix
A shorter `max-model-len`, a smaller draft, or a method without weights.

## Since which engine version
0.9.

## References
vllm/v1/spec_decode; vLLM issues 9995, 15017, 24505, 32165, 41456.
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
        - --max-model-len=32768  # expect: KVB103
        - '--speculative-config={"model": "Qwen/Qwen2.5-1.5B-Instruct", "num_speculative_tokens": 5}'  # expect: KVB112
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
        - '--speculative-config={"model": "Qwen/Qwen2.5-1.5B-Instruct", "num_speculative_tokens": 5}'
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
