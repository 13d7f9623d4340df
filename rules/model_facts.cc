#include "rules/model_facts.h"

#include <algorithm>

namespace kvbudget {
namespace {

using memory::CacheKind;
using memory::LayerCache;

template <typename Test>
bool any_cache(const Deployment& d, Test test) {
  return d.shape && std::any_of(d.shape->caches.begin(), d.shape->caches.end(), test);
}

bool has_kind(const Deployment& d, CacheKind kind) { return d.shape && d.shape->has_cache(kind); }

}  // namespace

bool uses_mla(const Deployment& d) {
  return has_kind(d, CacheKind::kMla) || has_kind(d, CacheKind::kSlidingMla);
}

bool has_indexers(const Deployment& d) {
  return any_cache(d, [](const LayerCache& cache) {
    return cache.stored_type.has_value() || cache.deepseek_v4;
  });
}

bool has_sinks(const Deployment& d) {
  return d.shape && std::any_of(d.shape->weights.begin(), d.shape->weights.end(),
                                [](const memory::Weight& weight) {
                                  return weight.name.ends_with("sinks") ||
                                         weight.name.ends_with("attn_sink");
                                });
}

bool has_recurrent_state(const Deployment& d) { return has_kind(d, CacheKind::kMamba); }

bool has_windows(const Deployment& d) {
  return has_kind(d, CacheKind::kSliding) || has_kind(d, CacheKind::kSlidingMla);
}

bool is_moe(const Deployment& d) { return d.shape && d.shape->num_experts > 0; }

uint32_t kv_heads(const Deployment& d) {
  if (!d.shape) return 0;
  return uses_mla(d) ? 1 : d.shape->num_kv_heads;
}

}  // namespace kvbudget
