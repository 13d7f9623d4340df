#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/kv_scales.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (stated_kv_dtype(d) != "fp8_e5m2" || !reads_kv_scales(d)) return;
  Diagnostic& finding =
      reporter.report(d.where_of("kv-cache-dtype"),
                      "kv-cache-dtype fp8_e5m2 cannot be combined with a " + d.shape->quantization +
                          " checkpoint in vLLM " + d.version.str() + ", which may hold scales",
                      exact_severity(d));
  const bool e4m3 = !backend_is_known(d) || why_no_backend(d, "fp8").empty();
  propose_value(d, "kv-cache-dtype", e4m3 ? "fp8" : "auto", finding);
}

}  // namespace

extern const Rule kv_e5m2_with_fp8_checkpoint_rule;
const Rule kv_e5m2_with_fp8_checkpoint_rule = {
    .id = "KVB203",
    .name = "kv-e5m2-with-fp8-checkpoint",
    .severity = Severity::kError,
    .summary = "fp8_e5m2 has no scales, and this checkpoint's format has",
    .doc = R"md(
## What it does
Finds `kv-cache-dtype: fp8_e5m2` with a checkpoint whose format may hold scales for keys and values.

## Why it matters
vLLM stops while it builds the model: "fp8_e5m2 kv-cache is not supported with fp8 checkpoints".

## How it is computed
From the checkpoint's `quant_method`: fp8, ModelOpt and Quark always; compressed-tensors of any kind up to 0.23, 4-bit
weights too, and from 0.24 on only with a `kv_cache_scheme`. Silent where `--quantization` decides instead.

## Fix
`fp8` where the GPU has a backend for it, else `auto`; for compressed-tensors without a scheme, 0.24.

## Since which engine version
0.6.3.

## References
vllm/model_executor/layers/attention/attention.py; vLLM issues 8409, 39137, 45040.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8
        - --max-model-len=32768
        - --kv-cache-dtype=fp8_e5m2  # expect: KVB203
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8
        - --max-model-len=32768
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
