#include "lint/memory/plan.h"

#include <algorithm>
#include <utility>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

RequestLimits::Mamba mamba_need(MambaMode mode, const PlanRules& rules) {
  using Mamba = RequestLimits::Mamba;
  if (rules.mamba_by_length) return Mamba::kByLength;
  if (!rules.mamba_modes) return Mamba::kOne;
  if (mode == MambaMode::kAlign) return Mamba::kAlign;
  if (mode == MambaMode::kNone || rules.mamba_all_as_none) return Mamba::kNone;
  return rules.mamba_all_speculates ? Mamba::kAllSpeculating : Mamba::kAll;
}

RequestLimits request_limits(const PlanInput& input, const PlanRules& rules) {
  RequestLimits limits;
  limits.window_extra_tokens =
      rules.in_flight_tokens ? input.max_in_flight_tokens : input.max_num_batched_tokens;
  limits.encoder_tokens = input.max_encoder_tokens;
  limits.context_shards = std::max(input.decode_context_parallel, 1u);
  if (rules.prefill_shards_context) {
    limits.context_shards *= std::max(input.prefill_context_parallel, 1u);
  }
  limits.mamba = mamba_need(input.mamba_mode, rules);
  return limits;
}

/// The layers of all ranks, each once, in the order in which the ranks report them.
std::vector<uint32_t> all_layers(const PlanInput& input) {
  std::vector<uint32_t> layers;
  std::vector<bool> seen(input.layers.size(), false);
  for (const std::vector<uint32_t>& worker : input.workers) {
    for (const uint32_t layer : worker) {
      if (!seen[layer]) layers.push_back(layer);
      seen[layer] = true;
    }
  }
  return layers;
}

PlanGroup plan_group(const Grouping& grouping, const SpecGroup& group, const PlanRules& rules) {
  PlanGroup result;
  result.kind = group.spec.kind;
  result.mixed = group.mixed;
  result.block_tokens = group.spec.block_tokens;
  if (!group.mixed) result.window_tokens = group.spec.window_tokens;
  result.layers = group.layers;
  if (!group.mixed) result.page_bytes = page_bytes(group.spec, rules);
  for (const uint32_t layer : group.layers) {
    const CacheSpec& spec = group.mixed ? grouping.specs[grouping.layer_specs[layer]] : group.spec;
    const uint64_t bytes = page_bytes(spec, rules);
    result.block_bytes = add(result.block_bytes, bytes);
    if (group.mixed) result.layer_page_bytes.push_back(bytes);
  }
  return result;
}

/// Ranks that were grouped one by one must come to the same specs; a stage without layers agrees.
bool groups_agree(const Grouping& a, const Grouping& b) {
  const size_t count = std::min(a.groups.size(), b.groups.size());
  return std::equal(a.groups.begin(), a.groups.begin() + static_cast<ptrdiff_t>(count),
                    b.groups.begin(),
                    [](const SpecGroup& x, const SpecGroup& y) { return x.spec == y.spec; });
}

/// Memory less what is withheld from it; both may be beyond any card.
int64_t less(int64_t available, uint64_t withheld) {
  const auto bytes = static_cast<int64_t>(std::min<uint64_t>(withheld, INT64_MAX));
  int64_t result = 0;
  return __builtin_sub_overflow(available, bytes, &result) ? INT64_MIN : result;
}

bool refuse(Plan& plan, Refusal refusal) {
  plan.refusal = refusal;
  return false;
}

}  // namespace

Planner::Planner(PlanInput input)
    : input_(std::move(input)),
      rules_(rules_for(input_.release)),
      limits_(request_limits(input_, rules_)) {
  if (!rules_.shards_per_spec) {
    for (CacheSpec& spec : input_.specs) spec.shards_context = true;
  }
  if (input_.workers.empty()) {
    std::vector<uint32_t>& only = input_.workers.emplace_back(input_.layers.size());
    for (uint32_t i = 0; i < only.size(); ++i) only[i] = i;
  }
  group_ranks();
}

void Planner::group_ranks() {
  GroupingInput groups{
      input_.specs, input_.layers, {}, input_.hybrid_manager, input_.blocks_outermost};
  if (rules_.groups_across_ranks) {
    groups.layers = all_layers(input_);
    const Grouping grouping = group_layers(groups, rules_);
    lay_out_groups(grouping);
    for (const std::vector<uint32_t>& worker : input_.workers) {
      ranks_.push_back(lay_out_rank(grouping, input_.specs, worker, rules_));
    }
    if (rules_.check == CheckScope::kWholeModel) {
      whole_model_ = whole_model_demand(grouping, rules_);
    }
    return;
  }
  Grouping first;
  for (const std::vector<uint32_t>& worker : input_.workers) {
    groups.layers = worker;
    const Grouping grouping = group_layers(groups, rules_);
    lay_out_groups(grouping);
    if (ranks_.empty()) first = grouping;
    supported_ = supported_ && groups_agree(first, grouping);
    ranks_.push_back(lay_out_rank(grouping, input_.specs, worker, rules_));
  }
}

void Planner::lay_out_groups(const Grouping& grouping) {
  supported_ = supported_ && grouping.supported;
  for (size_t i = 0; i < grouping.groups.size(); ++i) {
    PlanGroup group = plan_group(grouping, grouping.groups[i], rules_);
    if (i >= groups_.size()) {
      groups_.push_back(std::move(group));
      continue;
    }
    // Ranks that were grouped one by one: the i-th groups of all ranks are one group.
    PlanGroup& home = groups_[i];
    for (const uint32_t layer : group.layers) {
      if (std::find(home.layers.begin(), home.layers.end(), layer) != home.layers.end()) continue;
      home.layers.push_back(layer);
      home.block_bytes = add(home.block_bytes, group.page_bytes);
    }
  }
}

uint64_t Planner::needed_bytes(size_t rank, uint64_t length) const {
  const Demand& demand =
      rules_.check == CheckScope::kWholeModel ? whole_model_ : ranks_[rank].check;
  const uint64_t null_block = rules_.withholds_null_block ? ranks_[rank].block_bytes : 0;
  return add(demand.at(length, limits_), null_block);
}

uint64_t Planner::longest_context(size_t rank, int64_t available_bytes, uint64_t limit) const {
  const Demand& demand =
      rules_.check == CheckScope::kWholeModel ? whole_model_ : ranks_[rank].check;
  const uint64_t null_block = rules_.withholds_null_block ? ranks_[rank].block_bytes : 0;
  return demand.longest(less(available_bytes, null_block), limit, limits_);
}

uint64_t Planner::longest_request(size_t rank, uint64_t num_blocks, uint64_t limit) const {
  const uint64_t usable = num_blocks == 0 ? 0 : num_blocks - 1;
  const auto blocks = static_cast<int64_t>(std::min<uint64_t>(usable, INT64_MAX));
  return ranks_[rank].request.longest(blocks, limit, limits_);
}

uint64_t Planner::request_blocks(uint64_t length) const {
  return ranks_.empty() ? 0 : ranks_.front().scheduler_request.at(length, limits_);
}

uint64_t Planner::prefix_blocks(uint64_t length) const {
  uint64_t blocks = 0;
  for (const PlanGroup& group : groups_) {
    const bool grows = group.kind == SpecKind::kFull || group.kind == SpecKind::kMla;
    if (!grows || group.block_tokens == 0) continue;
    blocks = add(blocks, length / (uint64_t{group.block_tokens} * limits_.context_shards));
  }
  return blocks;
}

/// Context parallelism does not know windows: the engine asserts.
bool Planner::refuses_windows(const Demand& demand) const {
  if (input_.decode_context_parallel <= 1) return false;
  return std::any_of(demand.specs().begin(), demand.specs().end(), [](const CacheSpec& spec) {
    const bool sliding = spec.kind == SpecKind::kSliding || spec.kind == SpecKind::kSlidingMla;
    return sliding && spec.shards_context;
  });
}

bool Planner::check(size_t rank, int64_t offered, uint64_t length, Plan& plan) const {
  const bool whole = rules_.check == CheckScope::kWholeModel;
  const Demand& demand = whole ? whole_model_ : ranks_[rank].check;
  plan.worker = static_cast<uint32_t>(rank);
  plan.available_bytes = offered;
  if (offered > 0 && refuses_windows(demand)) return refuse(plan, Refusal::kUnsupported);
  plan.needed_bytes = demand.at(length, limits_);
  plan.ranks[rank].available_bytes = offered;
  plan.ranks[rank].needed_bytes = plan.needed_bytes;
  if (offered <= 0) return refuse(plan, Refusal::kNoMemory);
  if (plan.needed_bytes <= static_cast<uint64_t>(offered)) return true;
  plan.estimated_max_len = demand.longest(offered, length, limits_);
  return refuse(plan, Refusal::kTooSmall);
}

/// The check of versions that look at the layers before they group them.
bool Planner::check_layers(const std::vector<int64_t>& available, Plan& plan) const {
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].layers.empty() && !check(rank, available[rank], plan.max_model_len, plan)) {
      return false;
    }
    if (!rules_.groups_across_ranks && !ranks_[rank].supported) {
      return refuse(plan, Refusal::kUnsupported);
    }
  }
  return true;
}

bool Planner::fit_length(const std::vector<int64_t>& offered, Plan& plan) const {
  uint64_t longest = plan.max_model_len;
  if (rules_.check == CheckScope::kWholeModel) {
    const int64_t smallest = *std::min_element(offered.begin(), offered.end());
    longest = whole_model_.longest(smallest, plan.max_model_len, limits_);
  } else {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Demand& demand = ranks_[rank].check;
      longest = std::min(longest, demand.longest(offered[rank], plan.max_model_len, limits_));
    }
  }
  if (longest == 0) return refuse(plan, Refusal::kAutoFitImpossible);
  plan.max_model_len = longest;
  return true;
}

bool Planner::check_ranks(const std::vector<int64_t>& offered, Plan& plan) const {
  if (rules_.check == CheckScope::kWholeModel) {
    const bool passed =
        check(0, *std::min_element(offered.begin(), offered.end()), plan.max_model_len, plan);
    std::fill(plan.ranks.begin() + 1, plan.ranks.end(), plan.ranks.front());
    return passed;
  }
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!check(rank, offered[rank], plan.max_model_len, plan)) return false;
  }
  return true;
}

Plan Planner::plan(const std::vector<int64_t>& available_bytes) const {
  Plan plan;
  plan.max_model_len = input_.max_model_len;
  plan.ranks.resize(ranks_.size());
  if (rules_.check == CheckScope::kLayers && !check_layers(available_bytes, plan)) return plan;
  if (!supported_) {
    plan.refusal = Refusal::kUnsupported;
    return plan;
  }
  plan.groups = groups_;
  if (groups_.empty()) {
    plan.num_blocks = 1;  // the null block, which a model without attention has too
    return plan;
  }
  std::vector<int64_t> budget = available_bytes;
  if (rules_.override_decides && input_.num_gpu_blocks_override) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const uint64_t bytes = mul(*input_.num_gpu_blocks_override, ranks_[rank].block_bytes);
      budget[rank] = static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
    }
  }
  if (rules_.check != CheckScope::kLayers) {
    std::vector<int64_t> offered = budget;
    for (size_t rank = 0; rules_.withholds_null_block && rank < ranks_.size(); ++rank) {
      offered[rank] = less(offered[rank], ranks_[rank].block_bytes);
    }
    if (rules_.auto_fit && input_.auto_fit && !fit_length(offered, plan)) return plan;
    if (!check_ranks(offered, plan)) return plan;
  }
  place_blocks(budget, plan);
  return plan;
}

bool Planner::place_blocks(const std::vector<int64_t>& budget, Plan& plan) const {
  std::vector<uint64_t> rank_blocks;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].num_groups == 0) {  // a stage without a cache, grouped alone
      rank_blocks.push_back(1);
      continue;
    }
    if (ranks_[rank].block_bytes == 0) return refuse(plan, Refusal::kUnsupported);
    const uint64_t bytes = static_cast<uint64_t>(std::max<int64_t>(budget[rank], 0));
    rank_blocks.push_back(
        input_.num_gpu_blocks_override.value_or(bytes / ranks_[rank].block_bytes));
  }
  plan.num_blocks = *std::min_element(rank_blocks.begin(), rank_blocks.end());
  report(rank_blocks, plan);
  return true;
}

void Planner::report(const std::vector<uint64_t>& rank_blocks, Plan& plan) const {
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const RankLayout& layout = ranks_[rank];
    RankPlan& result = plan.ranks[rank];
    const uint64_t blocks = rules_.shrinks_tensors ? plan.num_blocks : rank_blocks[rank];
    result.tensor_bytes = mul(blocks, layout.tensor_bytes);
    const uint64_t per_request = layout.request.at(plan.max_model_len, limits_);
    if (per_request == 0) continue;
    result.max_concurrency = static_cast<double>(blocks) / static_cast<double>(per_request);
    result.log_tokens = logged_tokens(layout, blocks, result, plan.max_model_len);
    if (rank != 0) continue;
    plan.max_concurrency = concurrency(plan.num_blocks, plan.max_model_len);
    plan.kv_tokens =
        static_cast<uint64_t>(plan.max_concurrency * static_cast<double>(plan.max_model_len));
  }
}

double Planner::concurrency(uint64_t num_blocks, uint64_t length) const {
  if (ranks_.empty() || ranks_.front().request.at(length, limits_) == 0) return 0.0;
  const uint64_t scheduled = std::max<uint64_t>(request_blocks(length), 1);
  return static_cast<double>(num_blocks) / static_cast<double>(scheduled);
}

uint64_t Planner::logged_tokens(const RankLayout& rank, uint64_t blocks, const RankPlan& result,
                                uint64_t length) const {
  if (rules_.logs_concurrency) {
    return static_cast<uint64_t>(result.max_concurrency * static_cast<double>(length));
  }
  if (rules_.logs_cache_block) {
    return rank.num_groups == 1 ? blocks * input_.block_tokens * limits_.context_shards
                                : blocks / rank.num_groups * rank.smallest_block_tokens;
  }
  return blocks / rank.num_groups * rank.smallest_block_tokens * limits_.context_shards;
}

}  // namespace kvbudget::memory
