// Which layers may share a cache group: vLLM's KVCacheSpec.merge and UniformTypeKVCacheSpecs, and
// the promotion of windowed layers to full attention when the hybrid manager is off.
//
// Source: vllm/v1/kv_cache_interface.py and unify_hybrid_kv_cache_specs in
// vllm/v1/core/kv_cache_utils.py, 0.10 to 0.33.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lint/memory/cache_spec.h"
#include "lint/memory/plan_rules.h"

namespace kvbudget::memory {

/// The distinct specs of some layers, in order of first appearance.
using SpecList = std::vector<CacheSpec>;

enum class MergeResult : uint8_t {
  kMerged,
  kDiffer,  ///< an AssertionError in vLLM: another grouping is tried
  kRefused  ///< a ValueError: the engine gives up
};

MergeResult merge(const SpecList& specs, const PlanRules& rules, CacheSpec& merged);

/// Whether all layers always need the same number of blocks, so that they may share a block table
/// although their pages differ in size.
bool is_uniform_type(const SpecList& specs, const PlanRules& rules);

/// Turns sliding and chunked specs into full ones where full attention layers are present. False
/// when that does not leave one type, which vLLM refuses.
bool promote_windows(SpecList& specs, const PlanRules& rules);

}  // namespace kvbudget::memory
