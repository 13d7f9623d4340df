#include "rules/attention_choice.h"

#include <algorithm>

#include "lint/engine/flags.h"
#include "lint/engine/json_text.h"
#include "lint/read/text.h"
#include "rules/card_text.h"
#include "rules/model_facts.h"

namespace kvbudget {
namespace {

constexpr Version kValidates{0, 11, 1};  // backends say themselves what they accept
constexpr Version kBlocksCount{0, 18, 0};
constexpr ComputeCapability kAda{8, 9};

// 0.11.0 has one choice only, made from the card and the dtype.
bool is_considered_0_11_0(const Deployment& d, const AttentionLayers& layers,
                          std::string_view kv_dtype, std::string_view name) {
  const ComputeCapability card = d.gpu->capability;
  if (card == ComputeCapability{10, 0}) return name == "FLASHINFER";
  if (card.major < 8) return name == "FLEX_ATTENTION";
  const bool fp8 = kv_dtype.starts_with("fp8");
  const bool triton = (fp8 || layers.sinks) && card != ComputeCapability{9, 0};
  return name == (triton ? "TRITON_ATTN" : "FLASH_ATTN");
}

// In the order in which the engine tries them.
std::vector<const AttentionBackend*> considered(const Deployment& d, const AttentionLayers& layers,
                                                std::string_view kv_dtype) {
  if (const std::string forced = forced_backend(d); !forced.empty()) {
    return {find_attention_backend(forced)};
  }
  const bool blackwell = d.gpu->capability.major == 10;
  const auto place = [&](const AttentionBackend* b) {
    return blackwell ? b->place_blackwell : b->place;
  };
  std::vector<const AttentionBackend*> list;
  for (const AttentionBackend& backend : all_attention_backends()) {
    if (backend.mla != layers.mla || place(&backend) == 0 || d.version < *backend.since) continue;
    if (d.version < kValidates && !is_considered_0_11_0(d, layers, kv_dtype, backend.name)) {
      continue;
    }
    list.push_back(&backend);
  }
  std::sort(list.begin(), list.end(),
            [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return list;
}

// Why the engine passes over a backend; empty when it takes it.
std::string obstacle(const Deployment& d, const AttentionBackend& backend,
                     const AttentionLayers& layers, std::string_view kv_dtype,
                     std::optional<uint64_t> block_tokens) {
  const ComputeCapability card = d.gpu->capability;
  const std::string dtype(kv_dtype);
  if (backend.mla != layers.mla) return layers.mla ? "is not for MLA" : "is for MLA alone";
  if (!backend.runs_on(card, d.version)) {
    return "does not run on compute capability " + capability_text(card);
  }
  if (!backend.holds(kv_dtype, card, d.version)) {
    return "has no " + dtype + " on compute capability " + capability_text(card);
  }
  if (!backend.takes_heads_of(layers.head_dim, d.version)) {
    return "has no kernel for heads of " + std::to_string(layers.head_dim);
  }
  if (layers.sinks && !backend.has_sinks(card, d.version)) {
    return "has no attention sinks on compute capability " + capability_text(card);
  }
  const uint32_t multiple = backend.block_multiple(d.version);
  if (block_tokens && d.version >= kBlocksCount && *block_tokens % multiple != 0) {
    return "takes blocks of multiples of " + std::to_string(multiple);
  }
  return "";
}

// What the engine notices only when it runs the backend that it took.
std::string later_failure(const Deployment& d, const AttentionBackend& backend,
                          std::string_view kv_dtype) {
  // Stored as e4m3 whatever the name says (triton_reshape_and_cache_flash.py).
  if (backend.name == "TRITON_ATTN" && kv_dtype.starts_with("fp8") && d.gpu->capability < kAda) {
    return "cannot compile FP8 below compute capability 8.9";
  }
  if (backend.name == "FLASH_ATTN" && kv_dtype == "fp8_e5m2") return "has no fp8_e5m2";
  return "";
}

void append(std::string& list, std::string_view name, const std::string& text) {
  list += (list.empty() ? "" : "; ") + std::string(name) + " " + text;
}

}  // namespace

std::string forced_backend(const Deployment& d) {
  std::string name = d.settings.text("attention-backend");
  if (name.empty()) {
    name = json_member(d.settings.text("attention-config"), "backend").value_or("");
  }
  name = upper(name);
  constexpr std::string_view kOldSuffix = "_VLLM_V1";
  if (name.ends_with(kOldSuffix)) name.resize(name.size() - kOldSuffix.size());
  return name == "AUTO" ? "" : name;
}

bool backend_is_known(const Deployment& d) {
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0) return false;
  if (!d.shape || !d.shape->generates || has_indexers(d)) return false;
  if (d.version < Version{0, 11, 0} || (d.version < kValidates && uses_mla(d))) return false;
  const Setting* stated = d.settings.find("attention-backend");
  if (stated != nullptr && !stated->known) return false;
  const std::string forced = forced_backend(d);
  return forced.empty() || find_attention_backend(forced) != nullptr;
}

std::vector<AttentionLayers> attention_layers(const Deployment& d) {
  std::vector<AttentionLayers> kinds;
  const bool sinks = has_sinks(d);
  for (const memory::LayerCache& cache : d.shape->caches) {
    using memory::CacheKind;
    if (cache.kind == CacheKind::kMamba || cache.kind == CacheKind::kCross) continue;
    const bool mla = cache.kind == CacheKind::kMla || cache.kind == CacheKind::kSlidingMla;
    const AttentionLayers layers{mla, mla ? 0 : cache.head_dim, sinks && !mla};
    const bool seen = std::any_of(kinds.begin(), kinds.end(), [&](const AttentionLayers& k) {
      return k.mla == layers.mla && k.head_dim == layers.head_dim;
    });
    if (!seen) kinds.push_back(layers);
  }
  return kinds;
}

BackendChoice choose_backend(const Deployment& d, const AttentionLayers& layers,
                             std::string_view kv_dtype, std::optional<uint64_t> block_tokens) {
  BackendChoice choice;
  for (const AttentionBackend* backend : considered(d, layers, kv_dtype)) {
    const std::string why = obstacle(d, *backend, layers, kv_dtype, block_tokens);
    if (why.empty()) {
      choice.backend = backend;
      return choice;
    }
    append(choice.obstacles, backend->name, why);
  }
  return choice;
}

std::string why_no_backend(const Deployment& d, const AttentionLayers& layers,
                           std::string_view kv_dtype) {
  BackendChoice choice = choose_backend(d, layers, kv_dtype);
  if (choice.backend == nullptr) return choice.obstacles;
  const std::string later = later_failure(d, *choice.backend, kv_dtype);
  if (later.empty()) return "";
  append(choice.obstacles, choice.backend->name, later);
  return choice.obstacles;
}

std::string why_no_backend(const Deployment& d, std::string_view kv_dtype) {
  for (const AttentionLayers& layers : attention_layers(d)) {
    const std::string why = why_no_backend(d, layers, kv_dtype);
    if (!why.empty()) return why;
  }
  return "";
}

std::string stated_kv_dtype(const Deployment& d) {
  const Setting* stated = d.settings.find("kv-cache-dtype");
  if (stated == nullptr || !stated->known) return "";
  const std::vector<std::string_view> known = flag_choices(*find_flag("kv-cache-dtype"), d.version);
  const bool listed = std::find(known.begin(), known.end(), stated->value) != known.end();
  return listed ? stated->value : "";
}

}  // namespace kvbudget
