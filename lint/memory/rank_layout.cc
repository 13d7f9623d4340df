#include "lint/memory/rank_layout.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "lint/memory/bytes.h"
#include "lint/memory/packed_groups.h"

namespace kvbudget::memory {
namespace {

/// A group as one rank sees it.
class Share {
 public:
  Share(const SpecGroup& group, std::optional<std::vector<uint32_t>> own, bool projects)
      : group_(&group), own_(std::move(own)), projects_(projects) {}

  const SpecGroup& group() const { return *group_; }

  /// Layers on this rank.
  const std::vector<uint32_t>& layers() const { return own_ ? *own_ : group_->layers; }

  /// Layers that a mixed group's spec describes: a stage without any keeps the whole group's.
  const std::vector<uint32_t>& described() const {
    return projects_ && !layers().empty() ? layers() : group_->layers;
  }

 private:
  const SpecGroup* group_;
  std::optional<std::vector<uint32_t>> own_;  ///< none: all layers of the group
  bool projects_;
};

struct SpecCount {
  CacheSpec spec;
  uint64_t layers = 0;
};

std::vector<SpecCount> count_specs(const SpecList& specs, const std::vector<uint32_t>& layer_specs,
                                   const std::vector<uint32_t>& layers) {
  std::vector<uint64_t> counts(specs.size(), 0);
  for (const uint32_t layer : layers) ++counts[layer_specs[layer]];
  std::vector<SpecCount> used;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (counts[i] != 0) used.push_back({specs[i], counts[i]});
  }
  return used;
}

std::vector<SpecCount> count_specs(const Grouping& grouping, const std::vector<uint32_t>& layers) {
  return count_specs(grouping.specs, grouping.layer_specs, layers);
}

/// Pages of the layers of a group, each by its own spec or all by the merged one.
uint64_t pages_sum(const Grouping& grouping, const SpecGroup& group,
                   const std::vector<uint32_t>& layers, const PlanRules& rules) {
  if (!group.mixed) return mul(layers.size(), page_bytes(group.spec, rules));
  uint64_t bytes = 0;
  for (const SpecCount& used : count_specs(grouping, layers)) {
    bytes = add(bytes, mul(used.layers, page_bytes(used.spec, rules)));
  }
  return bytes;
}

SpecList demanding_specs(const Grouping& grouping, const Share& share) {
  if (!share.group().mixed) return {share.group().spec};
  SpecList specs;
  for (const SpecCount& used : count_specs(grouping, share.described())) specs.push_back(used.spec);
  return specs;
}

std::vector<Share> share_groups(const Grouping& grouping, const std::vector<uint32_t>& layers,
                                const PlanRules& rules) {
  size_t grouped = 0;
  for (const SpecGroup& group : grouping.groups) grouped += group.layers.size();
  const bool whole = grouped == layers.size();
  std::vector<bool> on_rank(whole ? 0 : grouping.layer_specs.size(), false);
  if (!whole) {
    for (const uint32_t layer : layers) on_rank[layer] = true;
  }
  std::vector<Share> shares;
  shares.reserve(grouping.groups.size());
  for (const SpecGroup& group : grouping.groups) {
    std::optional<std::vector<uint32_t>> own;
    if (!whole) {
      own.emplace();
      std::copy_if(group.layers.begin(), group.layers.end(), std::back_inserter(*own),
                   [&](uint32_t layer) { return on_rank[layer]; });
    }
    shares.emplace_back(group, std::move(own), rules.projects_groups);
  }
  return shares;
}

/// Tuples of one page of each size of the full layers, enough for the longest group.
uint64_t tuples_bytes(const Grouping& grouping, const std::vector<Share>& shares,
                      const PlanRules& rules) {
  uint64_t tuple = 0;
  for (const SizeLayers& size : layers_by_size(grouping, shares.front().described(), rules)) {
    tuple = add(tuple, size.page_bytes);
  }
  uint64_t repeats = 0;
  for (const Share& share : shares) {
    repeats =
        std::max(repeats, pattern_repeats(layers_by_size(grouping, share.described(), rules)));
  }
  return mul(tuple, repeats);
}

uint64_t buckets_bytes(const Grouping& grouping, const std::vector<Share>& shares,
                       const PlanRules& rules) {
  std::vector<SizeLayers> slots;
  for (const Share& share : shares) {
    for (SizeLayers& size : layers_by_size(grouping, share.layers(), rules)) {
      const auto slot = std::find_if(slots.begin(), slots.end(), [&](const SizeLayers& s) {
        return s.page_bytes == size.page_bytes;
      });
      if (slot == slots.end()) {
        slots.push_back(std::move(size));
      } else if (slot->layers.size() < size.layers.size()) {
        *slot = std::move(size);
      }
    }
  }
  uint64_t bytes = 0;
  for (const SizeLayers& slot : slots) bytes = add(bytes, mul(slot.page_bytes, slot.layers.size()));
  return bytes;
}

uint64_t widest_bytes(const Grouping& grouping, const std::vector<Share>& shares,
                      const PlanRules& rules) {
  uint64_t bytes = 0;
  for (const Share& share : shares) {
    bytes = std::max(bytes, pages_sum(grouping, share.group(), share.layers(), rules));
  }
  return bytes;
}

bool is_packed(const std::vector<Share>& shares) {
  return shares.size() > 1 && std::all_of(shares.begin(), shares.end(),
                                          [](const Share& share) { return share.group().mixed; });
}

uint64_t block_bytes(const Grouping& grouping, const std::vector<Share>& shares,
                     const PlanRules& rules) {
  if (shares.empty()) return 0;
  if (rules.packing != Packing::kByLayout && shares.size() == 1 && shares.front().group().mixed) {
    return pages_sum(grouping, shares.front().group(), shares.front().described(), rules);
  }
  if (is_packed(shares) && rules.packing == Packing::kTuples) {
    return tuples_bytes(grouping, shares, rules);
  }
  if (is_packed(shares) && rules.packing == Packing::kBuckets) {
    return buckets_bytes(grouping, shares, rules);
  }
  return widest_bytes(grouping, shares, rules);
}

void add_layers(const std::vector<SpecCount>& used, const PlanRules& rules, Demand& demand) {
  for (const SpecCount& layers : used) {
    demand.add(mul(layers.layers, page_bytes(layers.spec, rules)), {layers.spec});
  }
}

Demand check_demand(const Grouping& grouping, const std::vector<Share>& shares,
                    const PlanRules& rules) {
  Demand demand;
  if (shares.empty()) return demand;
  if (!rules.check_by_pool && shares.size() == 1 && shares.front().group().mixed) {
    add_layers(count_specs(grouping, shares.front().described()), rules, demand);
    return demand;
  }
  const bool tuples = is_packed(shares) && !rules.check_by_pool;
  const uint64_t bytes =
      tuples ? tuples_bytes(grouping, shares, rules) : block_bytes(grouping, shares, rules);
  for (const Share& share : shares) {
    demand.add(bytes, demanding_specs(grouping, share));
    if (!rules.check_sums_groups) break;
  }
  return demand;
}

/// The scheduler knows a mixed group only by its first layer.
Demand request_demand(const Grouping& grouping, const std::vector<Share>& shares,
                      const PlanRules& rules, bool first_spec_only) {
  Demand demand;
  for (const Share& share : shares) {
    const bool mixed = share.group().mixed && !first_spec_only;
    CacheSpec spec = share.group().spec;
    if (share.group().mixed) spec = grouping.specs[grouping.layer_specs[share.described().front()]];
    const uint64_t bytes = mixed ? pages_sum(grouping, share.group(), share.described(), rules)
                                 : page_bytes(spec, rules);
    demand.add(rules.concurrency_by_group ? 1 : bytes,
               mixed ? demanding_specs(grouping, share) : SpecList{spec});
    const bool first = &share == &shares.front();
    if (first && !rules.concurrency_by_group) demand.set_divisor(std::max<uint64_t>(bytes, 1));
  }
  return demand;
}

/// Layers whose cache grows with the context; padding left out.
uint64_t growth_bytes(const std::vector<SpecCount>& used, const PlanRules& rules) {
  uint64_t bytes = 0;
  for (const SpecCount& layers : used) {
    if (layers.spec.kind != SpecKind::kFull && layers.spec.kind != SpecKind::kMla) continue;
    CacheSpec one_state = layers.spec;
    one_state.block_tokens = std::max(one_state.tokens_per_state, 1u);
    const uint64_t state = mul(layers.layers, unpadded_page_bytes(one_state, rules));
    bytes = add(bytes, state / one_state.block_tokens);
  }
  return bytes;
}

}  // namespace

void Demand::add(uint64_t bytes, const SpecList& specs) {
  specs_.insert(specs_.end(), specs.begin(), specs.end());
  needs_.push_back({bytes, specs_.size()});
}

uint64_t Demand::at(uint64_t length, const RequestLimits& limits) const {
  uint64_t total = 0;
  size_t next = 0;
  for (const Need& need : needs_) {
    uint64_t pages = 0;
    for (; next < need.end; ++next) {
      pages = std::max(pages, request_pages(specs_[next], limits, length));
    }
    total = memory::add(total, mul(need.bytes, pages));
  }
  return ceil_div(total, divisor_);
}

uint64_t Demand::longest(int64_t available, uint64_t limit, const RequestLimits& limits) const {
  const auto fits = [&](uint64_t length) {
    return available >= 0 && at(length, limits) <= static_cast<uint64_t>(available);
  };
  if (!fits(1)) return 0;
  uint64_t low = 1;
  uint64_t high = limit;
  uint64_t longest = 1;
  while (low <= high) {
    const uint64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      longest = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return longest;
}

RankLayout lay_out_rank(const Grouping& grouping, const SpecList& original,
                        std::vector<uint32_t> layers, const PlanRules& rules) {
  RankLayout rank;
  rank.layers = std::move(layers);
  rank.supported = grouping.supported;
  if (rules.check == CheckScope::kLayers) {
    add_layers(count_specs(original, grouping.layer_specs, rank.layers), rules, rank.check);
  }
  if (!grouping.supported) return rank;
  const std::vector<Share> shares = share_groups(grouping, rank.layers, rules);
  rank.num_groups = static_cast<uint32_t>(shares.size());
  rank.block_bytes = block_bytes(grouping, shares, rules);
  rank.tensor_bytes = rank.block_bytes;
  rank.smallest_block_tokens = UINT32_MAX;
  for (const Share& share : shares) {
    rank.smallest_block_tokens =
        std::min(rank.smallest_block_tokens, share.group().spec.block_tokens);
  }
  if (shares.size() == 1) {
    rank.tensor_bytes = pages_sum(grouping, shares.front().group(), shares.front().layers(), rules);
  }
  if (rules.check != CheckScope::kLayers) rank.check = check_demand(grouping, shares, rules);
  rank.request = request_demand(grouping, shares, rules, false);
  rank.scheduler_request = request_demand(grouping, shares, rules, true);
  rank.bytes_per_token = growth_bytes(count_specs(grouping, rank.layers), rules);
  return rank;
}

Demand whole_model_demand(const Grouping& grouping, const PlanRules& rules) {
  std::vector<Share> shares;
  for (const SpecGroup& group : grouping.groups) {
    shares.emplace_back(group, std::nullopt, rules.projects_groups);
  }
  return check_demand(grouping, shares, rules);
}

}  // namespace kvbudget::memory
