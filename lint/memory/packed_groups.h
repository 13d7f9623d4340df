// Groups of mixed page sizes that share one block: DeepSeek-V4's compressed, indexer and sliding
// layers, and any mixture when the cache layout puts blocks outermost.
//
// Source: vllm/v1/core/kv_cache_utils.py: group_and_unify_kv_cache_specs and
// _get_kv_cache_groups_uniform_groups (0.20 to 0.28), _get_packed_kv_cache_groups (from 0.29).
#pragma once

#include <cstdint>
#include <vector>

#include "lint/memory/grouping.h"

namespace kvbudget::memory {

/// False when the model has no sliding MLA layers (or, in later versions, one page size only).
bool group_sliding_mla(const std::vector<uint32_t>& layers, const PlanRules& rules,
                       Grouping& grouping);

/// False when all pages are of one size.
bool group_packed(const std::vector<uint32_t>& layers, const PlanRules& rules, Grouping& grouping);

/// Layers by page size, in order of first appearance.
struct SizeLayers {
  uint64_t page_bytes = 0;
  std::vector<uint32_t> layers;
};
std::vector<SizeLayers> layers_by_size(const Grouping& grouping,
                                       const std::vector<uint32_t>& layers, const PlanRules& rules);

/// Most layers that share a page size: how often the pattern of the layers repeats.
uint64_t pattern_repeats(const std::vector<SizeLayers>& sizes);

}  // namespace kvbudget::memory
