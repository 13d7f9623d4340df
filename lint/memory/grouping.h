// Splits the layers of a model into KV-cache groups, each with one block table, as vLLM does.
//
// A group is either of one spec or `mixed`: layers that need the same number of blocks but differ
// in page size. Hybrid models get groups of equal size whose pages are made equal first, by larger
// blocks or by padding.
//
// Source: get_kv_cache_groups in vllm/v1/core/kv_cache_utils.py, 0.10 to 0.33.
#pragma once

#include <cstdint>
#include <vector>

#include "lint/memory/spec_merge.h"

namespace kvbudget::memory {

struct SpecGroup {
  CacheSpec spec;      ///< of its layers; mixed: of the first
  bool mixed = false;  ///< the layers keep their own specs
  std::vector<uint32_t> layers;
};

struct Grouping {
  bool supported = true;              ///< false: the engine refuses the combination
  SpecList specs;                     ///< after promotion and padding
  std::vector<uint32_t> layer_specs;  ///< by layer, into specs
  std::vector<SpecGroup> groups;
};

struct GroupingInput {
  SpecList specs;
  std::vector<uint32_t> layer_specs;  ///< by layer, into specs
  std::vector<uint32_t> layers;       ///< the layers to group, in the engine's order
  bool hybrid_manager = true;
  bool blocks_outermost = false;
};

Grouping group_layers(const GroupingInput& input, const PlanRules& rules);

}  // namespace kvbudget::memory
