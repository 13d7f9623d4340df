#include "rules/kv_scales.h"

#include <algorithm>

namespace kvbudget {
namespace {

// Methods whose checkpoints may hold scales (BaseKVCacheMethod in vllm/model_executor/layers/
// quantization, 0.6.3 to 0.32).
constexpr std::string_view kWithScales[] = {"fp8",          "deepseek_v4_fp8", "modelopt",
                                            "modelopt_fp4", "modelopt_mixed",  "modelopt_mxfp8",
                                            "quark",        "ptpc_fp8",        "petit_nvfp4"};

bool is_compressed(const Deployment& d) {
  return d.shape->quantization == "compressed-tensors" ||
         d.shape->quantization == "compressed_tensors";
}

bool may_hold_scales(const Deployment& d) {
  return std::find(std::begin(kWithScales), std::end(kWithScales), d.shape->quantization) !=
         std::end(kWithScales);
}

}  // namespace

bool reads_kv_scales(const Deployment& d) {
  constexpr Version kFirst{0, 6, 3};
  constexpr Version kAsksForScheme{0, 24, 0};
  if (!d.shape || d.settings.has("quantization") || d.version < kFirst) return false;
  if (!is_compressed(d)) return may_hold_scales(d);
  return d.version < kAsksForScheme || !d.shape->kv_cache_scheme.empty();
}

bool has_no_kv_scales(const Deployment& d) {
  if (!d.shape || !d.shape->kv_cache_scheme.empty()) return false;
  return is_compressed(d) || !may_hold_scales(d);
}

}  // namespace kvbudget
