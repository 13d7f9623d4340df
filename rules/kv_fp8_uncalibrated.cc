#include <algorithm>

#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/kv_scales.h"
#include "rules/model_facts.h"

namespace kvbudget {
namespace {

constexpr Version kSkipsLayers{0, 19, 0};  // kv-cache-dtype-skip-layers

bool has_small_windows(const Deployment& d) {
  constexpr uint32_t kSmall = 1024;  // tokens: Gemma, gpt-oss
  const auto& caches = d.shape->caches;
  return std::any_of(caches.begin(), caches.end(), [&](const auto& cache) {
    return cache.kind == memory::CacheKind::kSliding && cache.window_tokens <= kSmall;
  });
}

// The kinds of models whose answers have been seen to suffer; empty for all others.
std::string sensitive_part(const Deployment& d) {
  if (has_small_windows(d) && !d.engine.plain_caches.windows) return "small sliding windows";
  if (uses_mla(d)) return "latent attention";
  constexpr uint32_t kWideHead = 256;
  const auto& caches = d.shape->caches;
  const bool wide = std::any_of(caches.begin(), caches.end(), [&](const auto& cache) {
    return cache.kind == memory::CacheKind::kFull && cache.head_dim >= kWideHead;
  });
  return wide ? "heads of 256" : "";
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = stated_kv_dtype(d);
  if ((dtype != "fp8" && dtype != "fp8_e4m3") || !has_no_kv_scales(d)) return;
  if (!d.shape->generates || has_indexers(d) || d.settings.is_true("calculate-kv-scales")) return;
  if (backend_is_known(d) && !why_no_backend(d, dtype).empty()) return;
  const std::string part = sensitive_part(d);
  if (part.empty()) return;
  Diagnostic& finding = reporter.report(
      d.where_of("kv-cache-dtype"),
      "kv-cache-dtype " + dtype + " runs with scale 1.0, since the checkpoint holds none, and " +
          d.shape->architecture + " has " + part + ", where that has cost quality");
  if (has_small_windows(d) && d.version >= kSkipsLayers) {
    finding.notes.push_back(
        {"--kv-cache-dtype-skip-layers sliding_window leaves their small caches at 16 bits", {}});
  }
  finding.notes.push_back({"check long prompts, or calibrate with llm-compressor", {}});
}

}  // namespace

extern const Rule kv_fp8_uncalibrated_rule;
const Rule kv_fp8_uncalibrated_rule = {
    .id = "KVB204",
    .name = "kv-fp8-uncalibrated",
    .severity = Severity::kInfo,
    .summary = "an 8-bit KV cache without scales, on a model that is sensitive to it",
    .doc = R"md(
## What it does
Finds an e4m3 cache without calibrated scales on models with sliding windows of up to 1,024 tokens, latent attention or heads of 256.

## Why it matters
Keys and values are stored with scale 1.0. That is harmless for most models; for these kinds losses were reported
(4 points on MATH-500 in one case, half of them recovered by calibration; garbled answers at long contexts in another).

## How it is computed
The checkpoint holds no scales for certain: it is not quantised, in a format without place for them, or
compressed-tensors without `kv_cache_scheme`. Silent for other models, and where windows are left at 16 bits.

## Fix
`kv-cache-dtype-skip-layers: [sliding_window]` (0.19), or a calibrated checkpoint.

## Since which engine version
0.4.0.

## References
vLLM documentation, "Quantized KV Cache"; vLLM issues 23813, 54704.
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
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
        - --kv-cache-dtype=fp8  # expect: KVB204
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
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
        - --kv-cache-dtype=fp8
        - --kv-cache-dtype-skip-layers=sliding_window
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
