#include "lint/memory/grouping.h"

#include <algorithm>
#include <tuple>

#include "lint/memory/bytes.h"
#include "lint/memory/packed_groups.h"

namespace kvbudget::memory {
namespace {

/// Distinct specs of the layers, in order of first appearance, and their indices.
struct UsedSpecs {
  std::vector<uint32_t> ids;
  SpecList specs;
};

UsedSpecs used_specs(const Grouping& grouping, const std::vector<uint32_t>& layers) {
  UsedSpecs used;
  std::vector<bool> seen(grouping.specs.size(), false);
  for (const uint32_t layer : layers) {
    const uint32_t id = grouping.layer_specs[layer];
    if (seen[id]) continue;
    seen[id] = true;
    used.ids.push_back(id);
    used.specs.push_back(grouping.specs[id]);
  }
  return used;
}

void write_back(const UsedSpecs& used, Grouping& grouping) {
  for (size_t i = 0; i < used.ids.size(); ++i) grouping.specs[used.ids[i]] = used.specs[i];
}

/// Makes one page `target_bytes` large: more tokens a block, or padding. False where the engine
/// gives up; `unpaddable` says that no rule applied (rather than a rule with a wrong result).
bool resize_page(CacheSpec& spec, uint64_t target_bytes, const PlanRules& rules, bool& unpaddable) {
  const uint64_t own_bytes = page_bytes(spec, rules);
  if (own_bytes == target_bytes) return true;
  const bool attention = spec.kind != SpecKind::kMamba;
  if (!attention && rules.pads_mamba) {
    spec.padded_page_bytes = target_bytes;
    return unpadded_page_bytes(spec, rules) <= target_bytes;
  }
  if (own_bytes != 0 && target_bytes % own_bytes == 0) {
    spec.block_tokens *= static_cast<uint32_t>(target_bytes / own_bytes);
    align_page(spec, rules);
    return page_bytes(spec, rules) == target_bytes;
  }
  const bool pads =
      attention && (rules.pads_attention ? spec.kind != SpecKind::kMla
                                         : rules.pads_by_backend && spec.backend_pads);
  if (pads) {
    spec.padded_page_bytes = target_bytes;
    align_page(spec, rules);
    return page_bytes(spec, rules) == target_bytes;
  }
  unpaddable = true;
  return false;
}

bool unify_pages(SpecList& specs, const PlanRules& rules, bool& unpaddable) {
  uint64_t largest = 0;
  bool equal = true;
  for (const CacheSpec& spec : specs) {
    const uint64_t bytes = page_bytes(spec, rules);
    equal = equal && (largest == 0 || bytes == largest);
    largest = std::max(largest, bytes);
  }
  if (equal) return true;
  if (!rules.scales_blocks) return false;
  return std::all_of(specs.begin(), specs.end(), [&](CacheSpec& spec) {
    return resize_page(spec, largest, rules, unpaddable);
  });
}

/// Layers that may share groups: equal specs, or specs that merge.
struct Bucket {
  SpecList specs;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> layers;
};

std::vector<Bucket> bucket_layers(const Grouping& grouping, const std::vector<uint32_t>& layers,
                                  const UsedSpecs& used, const PlanRules& rules) {
  std::vector<Bucket> same_spec;
  std::vector<size_t> bucket_of(grouping.specs.size(), 0);
  for (size_t i = 0; i < used.ids.size(); ++i) {
    const auto found = std::find_if(same_spec.begin(), same_spec.end(), [&](const Bucket& bucket) {
      return bucket.specs.front() == used.specs[i];
    });
    bucket_of[used.ids[i]] = static_cast<size_t>(found - same_spec.begin());
    if (found == same_spec.end()) same_spec.push_back({{used.specs[i]}, {used.ids[i]}, {}});
  }
  for (const uint32_t layer : layers) {
    same_spec[bucket_of[grouping.layer_specs[layer]]].layers.push_back(layer);
  }
  if (!rules.merges_groups) return same_spec;

  std::vector<Bucket> merged;
  for (Bucket& next : same_spec) {
    const auto home = std::find_if(merged.begin(), merged.end(), [&](const Bucket& bucket) {
      SpecList together = bucket.specs;
      together.push_back(next.specs.front());
      CacheSpec ignored;
      return merge(together, rules, ignored) == MergeResult::kMerged;
    });
    if (home == merged.end()) {
      merged.push_back(std::move(next));
      continue;
    }
    home->specs.push_back(next.specs.front());
    home->layers.insert(home->layers.end(), next.layers.begin(), next.layers.end());
  }
  return merged;
}

CacheSpec group_spec(const Grouping& grouping, const std::vector<uint32_t>& layers,
                     const Bucket& bucket, const PlanRules& rules) {
  if (bucket.specs.size() == 1) return bucket.specs.front();
  CacheSpec merged;
  merge(used_specs(grouping, layers).specs, rules, merged);
  return merged;
}

void split_bucket(const Bucket& bucket, size_t group_size, const PlanRules& rules,
                  Grouping& grouping) {
  const size_t count = (bucket.layers.size() + group_size - 1) / group_size;
  for (size_t i = 0; i < count; ++i) {
    SpecGroup group;
    const size_t first = rules.strided_groups ? i : i * group_size;
    const size_t step = rules.strided_groups ? count : 1;
    const size_t last = rules.strided_groups ? bucket.layers.size()
                                             : std::min(bucket.layers.size(), first + group_size);
    group.layers.reserve(group_size);
    for (size_t j = first; j < last; j += step) group.layers.push_back(bucket.layers[j]);
    group.spec = group_spec(grouping, group.layers, bucket, rules);
    grouping.groups.push_back(std::move(group));
  }
}

void group_equal_pages(const std::vector<uint32_t>& layers, const UsedSpecs& used,
                       const PlanRules& rules, Grouping& grouping) {
  const std::vector<Bucket> buckets = bucket_layers(grouping, layers, used, rules);
  size_t fewest = SIZE_MAX;
  size_t most = 0;
  for (const Bucket& bucket : buckets) {
    fewest = std::min(fewest, bucket.layers.size());
    most = std::max(most, bucket.layers.size());
  }
  const size_t group_size = most * 100 < fewest * rules.widen_below_percent ? most : fewest;
  for (const Bucket& bucket : buckets) split_bucket(bucket, group_size, rules, grouping);
}

void one_group(const CacheSpec& spec, bool mixed, const std::vector<uint32_t>& layers,
               Grouping& grouping) {
  grouping.groups.push_back({spec, mixed, layers});
}

/// MLA beside sliding layers whose pages cannot be made equal: all keep blocks for every token.
bool promote_beside_mla(UsedSpecs& used, const PlanRules& rules) {
  const auto has = [&](SpecKind kind) {
    return std::any_of(used.specs.begin(), used.specs.end(),
                       [&](const CacheSpec& spec) { return spec.kind == kind; });
  };
  if (!rules.promotes_if_unpaddable || has(SpecKind::kSlidingMla) || has(SpecKind::kChunked) ||
      !has(SpecKind::kMla) || !has(SpecKind::kSliding)) {
    return false;
  }
  return promote_windows(used.specs, rules) && is_uniform_type(used.specs, rules);
}

void group_hybrid(const GroupingInput& input, UsedSpecs used, const PlanRules& rules,
                  Grouping& grouping) {
  if (rules.packing == Packing::kByLayout && input.blocks_outermost &&
      group_packed(input.layers, rules, grouping)) {
    return;
  }
  const UsedSpecs before = used;
  bool unpaddable = false;
  if (unify_pages(used.specs, rules, unpaddable)) {
    write_back(used, grouping);
    group_equal_pages(input.layers, used, rules, grouping);
    return;
  }
  used = before;
  if (!unpaddable || !promote_beside_mla(used, rules)) {
    grouping.supported = false;
    return;
  }
  write_back(used, grouping);
  one_group(used.specs.front(), true, input.layers, grouping);
}

/// Alphabetical place of vLLM's spec class: ChunkedLocal, Cross, Full, Mamba, SlidingWindow.
int class_order(SpecKind kind) {
  switch (kind) {
    case SpecKind::kChunked:
      return 0;
    case SpecKind::kCross:
      return 1;
    case SpecKind::kFull:
    case SpecKind::kMla:
      return 2;
    case SpecKind::kMamba:
      return 3;
    default:
      return 4;
  }
}

void sort_groups(std::vector<SpecGroup>& groups) {
  const auto key = [](const SpecGroup& group) {
    const CacheSpec& spec = group.spec;
    return std::make_tuple(class_order(spec.kind), spec.block_tokens, spec.kv_heads, spec.head_dim,
                           spec.window_tokens);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const SpecGroup& a, const SpecGroup& b) { return key(a) < key(b); });
}

}  // namespace

Grouping group_layers(const GroupingInput& input, const PlanRules& rules) {
  Grouping grouping;
  grouping.specs = input.specs;
  grouping.layer_specs = input.layer_specs;
  if (input.layers.empty()) return grouping;
  UsedSpecs used = used_specs(grouping, input.layers);
  if (!input.hybrid_manager) {
    if (!promote_windows(used.specs, rules)) {
      grouping.supported = false;
      return grouping;
    }
    write_back(used, grouping);
  }
  CacheSpec merged;
  const MergeResult result = merge(used.specs, rules, merged);
  if (result == MergeResult::kRefused) {
    grouping.supported = false;
  } else if (result == MergeResult::kMerged) {
    one_group(merged, false, input.layers, grouping);
  } else if (rules.uniform_types && is_uniform_type(used.specs, rules)) {
    one_group(used.specs.front(), true, input.layers, grouping);
  } else if (!rules.sliding_mla || !group_sliding_mla(input.layers, rules, grouping)) {
    group_hybrid(input, std::move(used), rules, grouping);
  }
  if (rules.sorts_groups) sort_groups(grouping.groups);
  return grouping;
}

}  // namespace kvbudget::memory
