#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/card_text.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

void report(const Deployment& d, const std::string& dtype, const std::string& why,
            Reporter& reporter) {
  Diagnostic& finding =
      reporter.report(d.where_of("kv-cache-dtype"),
                      d.shape->architecture + " has attention sinks, and no backend on " +
                          card_text(d) + " serves them with a " + dtype + " KV cache: " + why,
                      exact_severity(d));
  propose_value(d, "kv-cache-dtype", "auto", finding);
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = stated_kv_dtype(d);
  if (!dtype.starts_with("fp8") || dtype.ends_with("per_token_head") || !backend_is_known(d)) {
    return;
  }
  for (const AttentionLayers& layers : attention_layers(d)) {
    if (!layers.sinks) continue;
    AttentionLayers plain = layers;
    plain.sinks = false;
    const std::string why = why_no_backend(d, layers, dtype);
    if (!why.empty() && why_no_backend(d, plain, dtype).empty()) {
      return report(d, dtype, why, reporter);
    }
  }
}

}  // namespace

extern const Rule kv_fp8_with_sinks_rule;
const Rule kv_fp8_with_sinks_rule = {
    .id = "KVB202",
    .name = "kv-fp8-with-sinks",
    .severity = Severity::kError,
    .summary = "attention sinks and an 8-bit KV cache have no backend in common on this GPU",
    .doc = R"md(
## What it does
Looks for an attention backend that has both attention sinks (gpt-oss) and the 8-bit KV cache on the GPU.

## Why it matters
FlashAttention 2 and FlashInfer before Blackwell have no sinks, so that Triton is what is left; below compute
capability 8.9 it cannot compile FP8, and the engine dies at start ("fp8e4nv not supported in this architecture").

## How it is computed
As in KVB201, from the engine's own order of backends, once with and once without sinks.

## Fix
`kv-cache-dtype: auto`. Half of the layers of gpt-oss keep a window of 128 tokens, so the cache is small anyway.

## Since which engine version
0.11.0.

## References
vllm/platforms/cuda.py; `supports_sink` in vllm/v1/attention/backends.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
        - --kv-cache-dtype=fp8  # expect: KVB202
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
