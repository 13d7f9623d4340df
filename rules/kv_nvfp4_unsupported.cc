#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/card_text.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = stated_kv_dtype(d);
  // nvfp4_ds_mla is for sparse latent attention, which is not followed.
  if (dtype != "nvfp4" && dtype != "nvfp4_4over6") return;
  if (!backend_is_known(d)) return;
  const std::string why = why_no_backend(d, dtype);
  if (why.empty()) return;
  Diagnostic& finding =
      reporter.report(d.where_of("kv-cache-dtype"),
                      "kv-cache-dtype " + dtype + " has no attention backend on " + card_text(d) +
                          " in vLLM " + d.version.str() + ": " + why,
                      exact_severity(d));
  const bool fp8 = why_no_backend(d, "fp8").empty();
  propose_value(d, "kv-cache-dtype", fp8 ? "fp8" : "auto", finding);
}

}  // namespace

extern const Rule kv_nvfp4_unsupported_rule;
const Rule kv_nvfp4_unsupported_rule = {
    .id = "KVB205",
    .name = "kv-nvfp4-unsupported",
    .severity = Severity::kError,
    .summary = "no attention backend holds a 4-bit NVFP4 KV cache on this GPU",
    .doc = R"md(
## What it does
Looks for an attention backend that holds `nvfp4` or `nvfp4_4over6` on the GPU.

## Why it matters
Only FlashInfer does, with TensorRT-LLM kernels of data-centre Blackwell; elsewhere the engine stops at start.

## How it is computed
From the engine's own table of backends: compute capability 10.x from 0.21.0 on (0.20 knows the value, but no backend
of its takes it), and for `nvfp4` 8.x, 9.x and 12.x too from 0.32.

## Fix
`kv-cache-dtype: fp8`.

## Since which engine version
0.20.0, the first with the dtype.

## References
`supports_kv_cache_dtype` in vllm/v1/attention/backends/flashinfer.py; vLLM issue 37332.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=nvfp4  # expect: KVB205
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
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
