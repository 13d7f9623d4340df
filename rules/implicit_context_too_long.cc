#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB104") return;
  const memory::Estimate& e = *d.estimate;
  Diagnostic& finding =
      reporter.report(d.start.where,
                      "max-model-len is not set, so one request may have the model's " +
                          memory::with_commas(e.max_model_len) + " tokens (" + d.context.key +
                          ") and needs " + memory::gib_text(e.needed_bytes) + " of KV cache, " +
                          available_text(e) + "; " + longest_text(d),
                      severity_of(e));
  add_budget_notes(d, finding);
  propose_length(d, finding);
}

}  // namespace

extern const Rule implicit_context_too_long_rule;
const Rule implicit_context_too_long_rule = {
    .id = "KVB104",
    .name = "implicit-context-too-long",
    .severity = Severity::kError,
    .summary =
        "max-model-len is not set and the KV cache does not hold one request of the model's full "
        "length",
    .doc = R"md(
## What it does
The check of KVB103 for a deployment that does not set `max-model-len`: the engine then takes the length that
the model was built for.

## Why it matters
The engine does not start, and nothing in the file shows a length, so that the message about "max seq len" comes
as a surprise. Models of 131,072 and more tokens are common, GPUs that hold so long a request are not.

## How it is computed
The length is derived from config.json as the engine's version does it (position keys, rope scaling,
`model_max_length`); the rest is KVB103.

## Fix
Set `max-model-len`; from 0.14.0 `auto` takes what fits.

## Since which engine version
0.2.

## References
vllm/config/model.py, `_get_and_verify_max_len`; vLLM issues 16118, 34076, 39734.
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
      args: ["--model=meta-llama/Llama-3.1-8B-Instruct"]  # expect: KVB104
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
      args: ["--model=meta-llama/Llama-3.1-8B-Instruct", "--max-model-len=auto"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
