#include "lint/memory/packed_groups.h"

#include <algorithm>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

struct PackBucket {
  std::vector<uint32_t> layers;
  std::vector<SizeLayers> sizes;
  bool balanced = false;  ///< as many layers of each size: the pattern can be split
};

bool is_balanced(const std::vector<SizeLayers>& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [&](const SizeLayers& size) {
    return size.layers.size() == sizes.front().layers.size();
  });
}

const CacheSpec& spec_of(const Grouping& grouping, uint32_t layer) {
  return grouping.specs[grouping.layer_specs[layer]];
}

SpecList specs_of(const Grouping& grouping, const std::vector<uint32_t>& layers) {
  SpecList specs;
  for (const uint32_t layer : layers) {
    const CacheSpec& spec = spec_of(grouping, layer);
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  }
  return specs;
}

/// The divisor from `lower_bound` on that needs the least padding of all values up to a multiple;
/// the larger one on a tie (vLLM's _approximate_gcd).
uint64_t least_padding_divisor(const std::vector<uint64_t>& values, uint64_t lower_bound) {
  const uint64_t smallest = std::max<uint64_t>(1, lower_bound);
  const uint64_t largest = *std::max_element(values.begin(), values.end());
  uint64_t best = smallest;
  uint64_t best_padding = UINT64_MAX;
  for (uint64_t divisor = smallest; divisor <= largest; ++divisor) {
    uint64_t padding = 0;
    for (const uint64_t value : values) padding += (divisor - value % divisor) % divisor;
    if (padding > best_padding) continue;
    best = divisor;
    best_padding = padding;
  }
  return best;
}

void add_mixed_group(std::vector<uint32_t> layers, Grouping& grouping) {
  const CacheSpec spec = spec_of(grouping, layers.front());
  grouping.groups.push_back({spec, true, std::move(layers)});
}

/// Splits a balanced bucket into `count` groups, each with every count-th repeat of the pattern.
void split_pattern(const std::vector<SizeLayers>& sizes, uint64_t count, Grouping& grouping) {
  for (uint64_t i = 0; i < count; ++i) {
    std::vector<uint32_t> layers;
    for (uint64_t repeat = i; repeat < sizes.front().layers.size(); repeat += count) {
      for (const SizeLayers& size : sizes) layers.push_back(size.layers[repeat]);
    }
    if (!layers.empty()) add_mixed_group(std::move(layers), grouping);
  }
}

/// Pads sliding pages to the next page size of the full layers.
bool take_full_pages(const std::vector<uint32_t>& layers, const std::vector<SizeLayers>& full_sizes,
                     const PlanRules& rules, Grouping& grouping) {
  for (const uint32_t layer : layers) {
    CacheSpec& spec = grouping.specs[grouping.layer_specs[layer]];
    const uint64_t own_bytes = page_bytes(spec, rules);
    uint64_t target = UINT64_MAX;
    for (const SizeLayers& size : full_sizes) {
      if (size.page_bytes >= own_bytes) target = std::min(target, size.page_bytes);
    }
    if (target == UINT64_MAX) return false;
    if (own_bytes < target) spec.padded_page_bytes = target;
  }
  return true;
}

/// Sliding layers by block size and window.
std::vector<std::vector<uint32_t>> sliding_buckets(const std::vector<uint32_t>& layers,
                                                   const Grouping& grouping) {
  std::vector<std::vector<uint32_t>> buckets;
  for (const uint32_t layer : layers) {
    const CacheSpec& spec = spec_of(grouping, layer);
    if (spec.kind != SpecKind::kSlidingMla) continue;
    const auto home = std::find_if(buckets.begin(), buckets.end(), [&](const auto& bucket) {
      const CacheSpec& other = spec_of(grouping, bucket.front());
      return other.block_tokens == spec.block_tokens && other.window_tokens == spec.window_tokens;
    });
    if (home != buckets.end()) {
      home->push_back(layer);
    } else {
      buckets.push_back({layer});
    }
  }
  return buckets;
}

std::vector<PackBucket> pack_buckets(const std::vector<uint32_t>& layers, const PlanRules& rules,
                                     const Grouping& grouping) {
  std::vector<PackBucket> buckets;
  for (const uint32_t layer : layers) {
    const auto home = std::find_if(buckets.begin(), buckets.end(), [&](const PackBucket& bucket) {
      SpecList together = specs_of(grouping, bucket.layers);
      together.push_back(spec_of(grouping, layer));
      return is_uniform_type(together, rules);
    });
    if (home != buckets.end()) {
      home->layers.push_back(layer);
    } else {
      buckets.push_back({{layer}, {}, false});
    }
  }
  for (PackBucket& bucket : buckets) {
    bucket.sizes = layers_by_size(grouping, bucket.layers, rules);
    bucket.balanced = is_balanced(bucket.sizes);
  }
  return buckets;
}

/// Repeats of the layer pattern that every group holds; 0 when nothing needs packing.
uint64_t repeats_per_group(const std::vector<PackBucket>& buckets) {
  uint64_t floor = 0;
  std::vector<uint64_t> repeats;
  for (const PackBucket& bucket : buckets) {
    if (!bucket.balanced) continue;
    repeats.push_back(pattern_repeats(bucket.sizes));
    if (bucket.sizes.size() > 1) floor = std::max(floor, repeats.back());
  }
  return floor == 0 ? 0 : least_padding_divisor(repeats, floor);
}

uint64_t widest_group_bytes(const PackBucket& bucket, uint64_t count) {
  uint64_t bytes = 0;
  for (const SizeLayers& size : bucket.sizes) {
    bytes = add(bytes, mul(ceil_div(size.layers.size(), count), size.page_bytes));
  }
  return bytes;
}

}  // namespace

std::vector<SizeLayers> layers_by_size(const Grouping& grouping,
                                       const std::vector<uint32_t>& layers,
                                       const PlanRules& rules) {
  std::vector<SizeLayers> sizes;
  for (const uint32_t layer : layers) {
    const uint64_t bytes = page_bytes(spec_of(grouping, layer), rules);
    auto size = std::find_if(sizes.begin(), sizes.end(),
                             [&](const SizeLayers& s) { return s.page_bytes == bytes; });
    if (size == sizes.end()) size = sizes.insert(sizes.end(), {bytes, {}});
    size->layers.push_back(layer);
  }
  return sizes;
}

uint64_t pattern_repeats(const std::vector<SizeLayers>& sizes) {
  uint64_t repeats = 0;
  for (const SizeLayers& size : sizes) repeats = std::max<uint64_t>(repeats, size.layers.size());
  return repeats;
}

bool group_sliding_mla(const std::vector<uint32_t>& layers, const PlanRules& rules,
                       Grouping& grouping) {
  const std::vector<std::vector<uint32_t>> sliding = sliding_buckets(layers, grouping);
  if (sliding.empty()) return false;
  if (rules.sliding_mla_if_mixed && layers_by_size(grouping, layers, rules).size() <= 1) {
    return false;
  }
  std::vector<uint32_t> full;
  size_t placed = 0;
  for (const uint32_t layer : layers) {
    if (spec_of(grouping, layer).kind == SpecKind::kMla) full.push_back(layer);
  }
  for (const auto& bucket : sliding) placed += bucket.size();
  grouping.supported = !full.empty() && full.size() + placed == layers.size() &&
                       is_uniform_type(specs_of(grouping, full), rules);
  if (!grouping.supported) return true;

  const std::vector<SizeLayers> full_sizes = layers_by_size(grouping, full, rules);
  std::vector<uint64_t> repeats{pattern_repeats(full_sizes)};
  for (const auto& bucket : sliding) {
    repeats.push_back(pattern_repeats(layers_by_size(grouping, bucket, rules)));
  }
  const uint64_t group_repeats = least_padding_divisor(repeats, repeats.front());
  add_mixed_group(std::move(full), grouping);
  for (const auto& bucket : sliding) {
    const bool fits =
        !rules.sliding_mla_takes_page || take_full_pages(bucket, full_sizes, rules, grouping);
    const std::vector<SizeLayers> sizes = layers_by_size(grouping, bucket, rules);
    grouping.supported = grouping.supported && fits && is_balanced(sizes);
    if (!grouping.supported) return true;
    split_pattern(sizes, ceil_div(pattern_repeats(sizes), group_repeats), grouping);
  }
  return true;
}

bool group_packed(const std::vector<uint32_t>& layers, const PlanRules& rules, Grouping& grouping) {
  if (layers_by_size(grouping, layers, rules).size() <= 1) return false;
  const std::vector<PackBucket> buckets = pack_buckets(layers, rules, grouping);
  const uint64_t repeats = repeats_per_group(buckets);
  const auto group_count = [&](const PackBucket& bucket) -> uint64_t {
    if (!bucket.balanced || repeats == 0) return 1;
    return ceil_div(pattern_repeats(bucket.sizes), repeats);
  };
  // State buckets can go down to one state a group, whatever the others need.
  const auto is_state = [&](const PackBucket& bucket) {
    const SpecKind kind = spec_of(grouping, bucket.layers.front()).kind;
    if (kind == SpecKind::kMamba) return true;
    return repeats == 0 && (kind == SpecKind::kSliding || kind == SpecKind::kSlidingMla);
  };
  uint64_t block_bytes = 0;
  for (const PackBucket& bucket : buckets) {
    const uint64_t count = is_state(bucket) ? bucket.layers.size() : group_count(bucket);
    block_bytes = std::max(block_bytes, widest_group_bytes(bucket, count));
  }
  for (const PackBucket& bucket : buckets) {
    uint64_t count = group_count(bucket);
    if (block_bytes != 0 && is_state(bucket)) {
      const uint64_t page = page_bytes(spec_of(grouping, bucket.layers.front()), rules);
      const uint64_t per_block = std::max<uint64_t>(page == 0 ? 1 : block_bytes / page, 1);
      count = std::max(count, ceil_div(bucket.layers.size(), per_block));
    }
    if (count == 1) {
      add_mixed_group(bucket.layers, grouping);
    } else {
      split_pattern(bucket.sizes, count, grouping);
    }
  }
  return true;
}

}  // namespace kvbudget::memory
