// Order of a start-up: free memory is compared with the budget (vllm/v1/worker/utils.py,
// request_memory, from 0.9.1); weights are loaded; the profile run; the cache is planned and
// allocated; CUDA graphs are captured; the sampler is warmed up. What runs after the plan finds
// only what lies beside the budget: the memory of the profile run's peak can be borrowed by graph
// capture, but the sampler needs it back.
#include "lint/memory/verdict.h"

#include <algorithm>

#include "lint/memory/suggest.h"

namespace kvbudget::memory {
namespace {

// The figures at one end of their intervals.
struct End {
  const Plan& plan;
  uint64_t weights;
  uint64_t activation;
  uint64_t used;  ///< inside the budget, without the cache
  uint64_t context;
  uint64_t outside;
  uint64_t warm_up;
  uint64_t graphs;  ///< beside the budget
  uint64_t total;
  uint64_t requested;
};

bool has_state(const Plan& plan) {
  return std::any_of(plan.groups.begin(), plan.groups.end(),
                     [](const PlanGroup& group) { return group.kind == SpecKind::kMamba; });
}

// "max_num_seqs exceeds available Mamba cache blocks": vllm/config/compilation.py, a check of full
// CUDA graphs from 0.20.
bool lacks_state_blocks(const EngineSettings& settings, const Plan& plan) {
  const bool checked = settings.release.at_least(20) && settings.full_cudagraphs &&
                       settings.cudagraph_sizes != 0 && !settings.enforce_eager;
  return checked && has_state(plan) && settings.max_num_seqs > plan.num_blocks;
}

// What the cache takes where settings fix it whatever the budget; the blocks win.
std::optional<uint64_t> fixed_cache(const EngineSettings& settings, const Plan& plan) {
  if (!settings.num_gpu_blocks_override || !plan.ok()) return settings.kv_cache_memory_bytes;
  uint64_t bytes = 0;
  for (const RankPlan& rank : plan.ranks) bytes = std::max(bytes, rank.tensor_bytes);
  return bytes;
}

Obstacle beside_budget(const EngineSettings& settings, const End& end) {
  const std::optional<uint64_t> cache = fixed_cache(settings, end.plan);
  const uint64_t budget = cache ? add(end.used, *cache) : std::min(end.requested, end.total);
  const uint64_t left = less(end.total, budget);
  if (end.outside <= left) return Obstacle::kNone;
  return end.warm_up == 0 || end.graphs > add(left, end.activation)
             ? Obstacle::kGraphsExceedMemory
             : Obstacle::kSamplerExceedsMemory;
}

Obstacle obstacle_at(const EngineSettings& settings, const End& end) {
  const bool fixed = settings.kv_cache_memory_bytes.has_value();
  // Whether or not the budget then sizes anything.
  const bool start_check = !settings.v0_engine && settings.release.at_least(9, 1);
  if (start_check && end.context > less(end.total, end.requested)) {
    return Obstacle::kBudgetExceedsFree;
  }
  if (end.weights > (fixed ? end.total : std::min(end.requested, end.total))) {
    return Obstacle::kWeightsExceedBudget;
  }
  if (add(end.used, end.context) > end.total) return Obstacle::kActivationExceedsMemory;
  const std::optional<uint64_t> cache = fixed_cache(settings, end.plan);
  if (cache && add(end.used, *cache) > end.total) return Obstacle::kCacheExceedsMemory;
  if (end.plan.refusal == Refusal::kNoMemory) return Obstacle::kNoRoomForCache;
  if (!end.plan.ok()) return Obstacle::kContextTooLong;
  if (lacks_state_blocks(settings, end.plan)) return Obstacle::kStateBlocksTooFew;
  return beside_budget(settings, end);
}

// "In Mamba cache align mode, block_size must be <= max_num_batched_tokens": vllm/config/vllm.py,
// 0.17 to 0.26.
bool block_exceeds_batch(const EngineSettings& settings, const Estimate& e) {
  const bool checked = settings.release.at_least(17) && !settings.release.at_least(27);
  return checked && settings.prefix_caching && settings.mamba_cache_mode == "align" &&
         e.attention_block_tokens() > settings.max_num_batched_tokens;
}

// What the engine refuses before it looks at memory.
Obstacle refused_by_settings(const ModelShape& model, const EngineSettings& settings,
                             const Estimate& e) {
  if (!heads_divide(model, std::max(settings.tensor_parallel, 1U))) {
    return Obstacle::kHeadsNotDivisible;
  }
  // vllm/config/scheduler.py, verify_max_model_len: one step must take a token of every sequence.
  if (settings.max_num_batched_tokens < settings.max_num_seqs) return Obstacle::kBatchBelowSeqs;
  const bool checked = settings.model_length_limit != 0 && !settings.auto_fit_max_model_len;
  if (checked && settings.max_model_len > settings.model_length_limit) {
    return Obstacle::kLengthAboveModel;
  }
  return block_exceeds_batch(settings, e) ? Obstacle::kBlockExceedsBatch : Obstacle::kNone;
}

Verdict verdict_of(const Estimate& e) {
  if (e.obstacle == Obstacle::kNone) return Verdict::kStarts;
  if (!e.obstacle_certain) return Verdict::kUnsure;
  switch (e.obstacle) {
    case Obstacle::kWeightsExceedBudget:
      return e.term("weights")->bytes.low > e.total_bytes ? Verdict::kOutOfMemory
                                                          : Verdict::kRefuses;
    case Obstacle::kActivationExceedsMemory:
    case Obstacle::kCacheExceedsMemory:
    case Obstacle::kGraphsExceedMemory:
    case Obstacle::kSamplerExceedsMemory:
      return Verdict::kOutOfMemory;
    default:
      return Verdict::kRefuses;
  }
}

}  // namespace

bool is_beside_budget(Obstacle obstacle) {
  return obstacle == Obstacle::kBudgetExceedsFree || obstacle == Obstacle::kGraphsExceedMemory ||
         obstacle == Obstacle::kSamplerExceedsMemory;
}

void judge(Estimate& e, const ModelShape& model, const EngineSettings& settings,
           const GpuMemory& gpu, const Plans& plans) {
  const Interval& weights = e.term("weights")->bytes;
  const Interval& activation = e.term("activation")->bytes;
  const Term& graphs = *e.term("cuda_graphs");
  const Interval beside = graphs.in_budget ? Interval{} : graphs.bytes;
  const auto at = [&](const Plan& plan, uint64_t Interval::*end, uint64_t total) {
    return obstacle_at(
        settings, {plan, weights.*end, activation.*end, e.used.*end, e.context.*end, e.outside.*end,
                   e.warm_up.*end, beside.*end, total, requested_bytes(settings, total)});
  };
  e.obstacle_certain = at(plans.high, &Interval::low, gpu.highest()) != Obstacle::kNone;
  e.obstacle = at(plans.best, &Interval::best, gpu.total_bytes);
  if (e.obstacle == Obstacle::kNone) e.obstacle = at(plans.low, &Interval::high, gpu.lowest());
  if (const Obstacle refused = refused_by_settings(model, settings, e);
      refused != Obstacle::kNone) {
    e.obstacle = refused;
    e.obstacle_certain = true;
  }
  e.verdict = verdict_of(e);
}

}  // namespace kvbudget::memory
