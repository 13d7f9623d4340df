#include <algorithm>
#include <array>

#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// Attention backends that can hold 8-bit KV, for attention that is not MLA. Versions before 0.10.2
// differ (see check). Source: supports_kv_cache_dtype and supports_compute_capability of
// vllm/v1/attention/backends, 0.10.2 to 0.28.
struct Backend {
  std::string_view name;
  // Why it cannot serve this dtype on this card, empty when it can.
  std::string (*obstacle)(const Deployment&, bool e5m2);
};

constexpr ComputeCapability kAmpere{8, 0};
constexpr ComputeCapability kAda{8, 9};

std::string flash_attention(const Deployment& d, bool e5m2) {
  const uint8_t major = d.gpu->capability.major;
  if (e5m2) return "has no fp8_e5m2";
  if (major == 9 || (major == 10 && d.version >= Version{0, 22, 0})) return "";
  return "has FP8 KV on compute capability 9.x" +
         std::string(d.version >= Version{0, 22, 0} ? " and 10.x" : "") + " only";
}

std::string flashinfer(const Deployment& d, bool) {
  constexpr std::array<uint32_t, 4> kHeadSizes = {64, 128, 256, 512};
  if (d.gpu->capability < kAmpere) return "needs compute capability 8.0";
  if (d.shape &&
      std::find(kHeadSizes.begin(), kHeadSizes.end(), d.shape->head_dim) == kHeadSizes.end()) {
    return "has no kernel for heads of " + std::to_string(d.shape->head_dim);
  }
  return "";
}

std::string triton(const Deployment& d, bool e5m2) {
  return e5m2 || d.gpu->capability >= kAda ? ""
                                           : "cannot compile e4m3 below compute capability 8.9";
}

std::string flex(const Deployment&, bool) { return "has no FP8 KV"; }

constexpr Backend kBackends[] = {
    {"FLASH_ATTN", &flash_attention},
    {"FLASHINFER", &flashinfer},
    {"TRITON_ATTN", &triton},
    {"FLEX_ATTENTION", &flex},
};

// The backend that the file forces, in today's spelling; empty when the engine chooses.
std::string forced_backend(const Deployment& d) {
  std::string name = d.settings.text("attention-backend");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : static_cast<char>(c);
  });
  constexpr std::string_view kOldSuffix = "_VLLM_V1";
  if (name.ends_with(kOldSuffix)) name.resize(name.size() - kOldSuffix.size());
  return name;
}

bool uses_mla(const Deployment& d) {
  return d.shape && std::any_of(d.shape->caches.begin(), d.shape->caches.end(),
                                [](const memory::LayerCache& layer) {
                                  return layer.kind == memory::CacheKind::kMla;
                                });
}

void check_backends(const Deployment& d, const std::string& dtype, bool e5m2, Reporter& reporter) {
  const std::string forced = forced_backend(d);
  std::string reasons;
  for (const Backend& backend : kBackends) {
    if (!forced.empty() && backend.name != forced) continue;
    const std::string obstacle = backend.obstacle(d, e5m2);
    if (obstacle.empty()) return;
    if (!reasons.empty()) reasons += "; ";
    reasons += std::string(backend.name) + " " + obstacle;
  }
  if (reasons.empty()) return;  // a backend that the table does not know
  Diagnostic& finding =
      reporter.report(d.where_of("kv-cache-dtype"),
                      "kv-cache-dtype " + dtype + " has no attention backend on " + d.gpu->name +
                          " (compute capability " + std::to_string(d.gpu->capability.major) + "." +
                          std::to_string(d.gpu->capability.minor) + "): " + reasons);
  propose_value(d, "kv-cache-dtype", "auto", finding);
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = d.settings.text("kv-cache-dtype");
  const bool e5m2 = dtype == "fp8_e5m2";
  if (!e5m2 && dtype != "fp8" && dtype != "fp8_e4m3") return;
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0 || uses_mla(d)) return;
  if (d.version >= Version{0, 10, 2}) {
    check_backends(d, dtype, e5m2, reporter);
    return;
  }
  const uint8_t major = d.gpu->capability.major;
  if (d.version < Version{0, 8, 0} || major == 9 || major == 10) return;
  reporter.report(
      d.where_of("kv-cache-dtype"),
      "vLLM " + d.version.str() + " has no FP8 KV cache for " + d.gpu->name +
          " in its V1 engine and falls back to V0, where accuracy suffers; 0.10.2 brings it",
      Severity::kWarning);
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
From a table of vLLM's backends: FlashAttention holds e4m3 on Hopper (and on Blackwell from 0.22) and never e5m2;
FlashInfer holds both from compute capability 8.0 for heads of 64, 128, 256 and 512; Triton compiles e4m3 from 8.9
on. Left to itself the engine picks one that works, so that an A100 or RTX 3090 with plain `fp8` is fine; a forced
`attention-backend` can rule the last one out. MLA models have backends of their own and are not looked at.

## Fix
`auto`, another backend, or `fp8_e5m2` on Ampere if the checkpoint is not FP8.

## Since which engine version
0.10.2; from 0.8.0 to 0.10.1 cards other than Hopper and Blackwell get a warning about the V0 fallback.

## References
vllm/v1/attention/backends; vLLM issues 7714, 12543, 24577, 26431.
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
        - --kv-cache-dtype=fp8_e5m2
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
