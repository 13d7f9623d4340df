#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/card_text.h"
#include "rules/kv_scales.h"
#include "rules/model_facts.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// Why layers of the model have no backend for reasons other than their sinks, which are another
// rule's business.
std::string why_without_sinks(const Deployment& d, const std::string& dtype) {
  for (AttentionLayers layers : attention_layers(d)) {
    layers.sinks = false;
    const std::string why = why_no_backend(d, layers, dtype);
    if (!why.empty()) return why;
  }
  return "";
}

// Up to 0.10.2 the V1 engine has FP8 KV with FlashAttention 3 and on Blackwell alone, and steps
// aside for the old engine elsewhere (is_kv_cache_dtype_supported, vllm/platforms/cuda.py).
void check_fallback(const Deployment& d, Reporter& reporter) {
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0 || uses_mla(d)) return;
  const uint8_t major = d.gpu->capability.major;
  if (d.version < Version{0, 8, 0} || major == 9 || major == 10) return;
  if (!forced_backend(d).empty()) return;
  reporter.report(
      d.where_of("kv-cache-dtype"),
      "vLLM " + d.version.str() + " has no FP8 KV cache for " + d.gpu->name +
          " in its V1 engine and falls back to V0, where accuracy suffers; 0.11.1 brings it",
      Severity::kWarning);
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = stated_kv_dtype(d);
  if (dtype != "fp8" && dtype != "fp8_e4m3" && dtype != "fp8_e5m2") return;
  if (d.version < Version{0, 11, 0}) return check_fallback(d, reporter);
  // KVB203 says why e5m2 does not go with the checkpoint, whatever the card.
  if (!backend_is_known(d) || (dtype == "fp8_e5m2" && reads_kv_scales(d))) return;
  const std::string why = why_without_sinks(d, dtype);
  if (why.empty()) return;
  Diagnostic& finding = reporter.report(
      d.where_of("kv-cache-dtype"),
      "kv-cache-dtype " + dtype + " has no attention backend on " + card_text(d) + ": " + why,
      exact_severity(d));
  propose_value(d, "kv-cache-dtype", "auto", finding);
}

}  // namespace

extern const Rule kv_fp8_no_backend_rule;
const Rule kv_fp8_no_backend_rule = {
    .id = "KVB201",
    .name = "kv-fp8-no-backend",
    .severity = Severity::kError,
    .summary = "no attention backend holds this 8-bit KV cache on this GPU",
    .doc = R"md(
## What it does
Looks for an attention backend that serves the `kv-cache-dtype` on the GPU, within what the file forces.

## Why it matters
The engine stops at start ("… is not a valid attention backend", "fp8e4nv not supported in this architecture") or
silently serves another, slower engine.

## How it is computed
As the engine chooses: the first backend of its order that accepts the card, the heads and the dtype, or the one that
`attention-backend` asks for. FlashAttention holds e4m3 on Hopper (on Blackwell from 0.27) and never e5m2, FlashInfer
both where it has kernels for the size of the heads, Triton both from compute capability 8.9 on, since it compiles
them. A plain `fp8` on an A100 or RTX 3090 is fine from 0.11.1 on, thanks to FlashInfer; 0.11.0 takes Triton there and
fails. Models with latent attention have backends of their own; those with indexers are not looked at.

## Fix
`auto`, another backend, or a newer release.

## Since which engine version
0.11.0; from 0.8.0 to 0.10.2 cards other than Hopper and Blackwell get a warning about the V0 fallback.

## References
vllm/platforms/cuda.py, vllm/v1/attention/backends; vLLM issues 7714, 12543, 24577, 26431.
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
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8  # expect: KVB201
        - --attention-backend=TRITON_ATTN
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
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
