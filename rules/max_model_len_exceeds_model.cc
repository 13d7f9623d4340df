#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// KVB210: without --disable-sliding-window the length would do.
bool is_capped_by_flag(const Deployment& d) {
  return d.settings.is_true("disable-sliding-window") &&
         d.engine.max_model_len <= context_limit(*d.shape, d.version, false).limit_tokens;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.context_checked || d.engine.auto_fit_max_model_len || !d.settings.has("max-model-len"))
    return;
  const uint64_t asked = d.engine.max_model_len;
  const uint64_t limit = d.context.limit_tokens;
  if (asked <= limit || is_capped_by_flag(d)) return;
  Diagnostic& finding =
      reporter.report(d.where_of("max-model-len"),
                      "max-model-len " + memory::with_commas(asked) + " is above the " +
                          memory::with_commas(limit) + " tokens that " + d.model +
                          " was built for (" + d.context.key + ")");
  propose_value(d, "max-model-len", std::to_string(limit), finding);
}

}  // namespace

extern const Rule max_model_len_exceeds_model_rule;
const Rule max_model_len_exceeds_model_rule = {
    .id = "KVB404",
    .name = "max-model-len-exceeds-model",
    .severity = Severity::kError,
    .summary = "max-model-len is longer than the model was built for",
    .doc = R"md(
## What it does
Compares `max-model-len` with the length that config.json gives the model.

## Why it matters
vLLM stops: "User-specified max_model_len (131072) is greater than the derived max_model_len". Past its length a
model with rotary embedding answers nonsense, one with learned positions reads out of bounds.

## How it is computed
The smallest position key of config.json (or of its text part), times the factor of a rope scaling whose type
calls for it, bounded by the tokenizer's `model_max_length`; `model_max_length` of config.json may raise it. The
rules are those of the engine's version. Silent when `hf-overrides` change the model, when
`VLLM_ALLOW_LONG_MAX_MODEL_LEN` is set, and when no key states a length.

## Fix
The model's own length; or, where the model's authors document it, rope scaling by `hf-overrides`.

## Since which engine version
0.2; the accepted keys and rope types changed in 0.4, 0.5, 0.7, 0.8, 0.11 and 0.30.

## References
vllm/config/model.py, `_get_and_verify_max_len`; vLLM issues 888, 3676, 7303, 20097.
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
        - --max-model-len=131072  # expect: KVB404
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
        - --max-model-len=32768
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
