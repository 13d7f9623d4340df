#include "lint/memory/estimate.h"

#include <algorithm>

#include "lint/memory/activation.h"
#include "lint/memory/engine_model.h"
#include "lint/memory/explain.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/overheads.h"
#include "lint/memory/plan.h"
#include "lint/memory/weights.h"

namespace kvbudget::memory {
namespace {

// One pipeline stage: its terms and what they leave. Tensor-parallel ranks of a stage are alike.
struct Stage {
  std::vector<Term> terms;
  Interval outside;
  SignedInterval available;
};

uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

int64_t difference(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = INT64_MAX;
  return static_cast<int64_t>(std::min(a, kMost)) - static_cast<int64_t>(std::min(b, kMost));
}

// int(total * utilization), as vllm/v1/worker/utils.py request_memory (math.ceil from 0.11; one
// byte).
uint64_t requested(const EngineSettings& settings, const GpuMemory& gpu) {
  const double bytes = static_cast<double>(gpu.total_bytes) * settings.gpu_memory_utilization;
  return bytes <= 0.0 ? 0 : static_cast<uint64_t>(bytes);
}

uint64_t weights_on_gpu(const ModelShape& model, const EngineSettings& settings, uint32_t stage) {
  const double offload = std::max(settings.cpu_offload_gib, 0.0) * static_cast<double>(kGiB);
  return less(rank_weight_bytes(model, settings, stage), static_cast<uint64_t>(offload));
}

Interval sum(const std::vector<Term>& terms, bool in_budget) {
  Interval total;
  for (const Term& term : terms) {
    if (term.in_budget != in_budget) continue;
    total.low = add(total.low, term.bytes.low);
    total.best = add(total.best, term.bytes.best);
    total.high = add(total.high, term.bytes.high);
  }
  return total;
}

Stage make_stage(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu,
                 uint32_t index) {
  const ProfileRules rules = profile_rules(settings.release, model.num_experts != 0);
  Stage stage;
  stage.terms = {
      {"weights", weight_interval(weights_on_gpu(model, settings, index), model), true,
       "tensors of config.json, divided over ranks"},
      {"activation", activation_peak(model, settings, index), true,
       "profile run: forward pass and sampler"},
      {"non_torch", non_torch_bytes(settings, gpu), true,
       "seen in start-up logs of this class of GPU"},
      {"cuda_graphs", cuda_graph_bytes(model, settings), rules.graphs_in_budget,
       rules.graphs_in_budget ? "counted by this version" : "beside the budget in this version"},
  };
  const Interval inside = sum(stage.terms, true);
  const uint64_t budget = requested(settings, gpu);
  stage.available = {difference(budget, inside.high), difference(budget, inside.best),
                     difference(budget, inside.low)};
  if (settings.kv_cache_memory_bytes) {
    const auto fixed = difference(*settings.kv_cache_memory_bytes, 0);
    stage.available = {fixed, fixed, fixed};
  }
  const Interval context = cuda_context_bytes(settings);
  const Interval graphs = sum(stage.terms, false);
  stage.outside = {add(context.low, graphs.low), add(context.best, graphs.best),
                   add(context.high, graphs.high)};
  return stage;
}

std::vector<int64_t> at_end(const std::vector<Stage>& stages, int64_t SignedInterval::*end) {
  std::vector<int64_t> bytes;
  for (const Stage& stage : stages) bytes.push_back(stage.available.*end);
  return bytes;
}

uint64_t longest_context(const Planner& planner, const std::vector<int64_t>& available,
                         uint64_t limit) {
  uint64_t longest = limit;
  for (size_t rank = 0; rank < available.size(); ++rank) {
    longest = std::min(longest, planner.longest_context(rank, available[rank], limit));
  }
  return longest;
}

Capacity capacity(const Planner& planner, const Plan& plan, const std::vector<int64_t>& available) {
  // The longest request is searched far beyond max_model_len: "16,384 is set, 28,016 would fit".
  constexpr uint64_t kLengthLimit = uint64_t{1} << 26;
  Capacity result;
  result.holds_one_request = plan.ok();
  result.longest_context = longest_context(planner, available, kLengthLimit);
  if (!plan.ok()) return result;
  result.num_blocks = plan.num_blocks;
  result.max_concurrency = plan.max_concurrency;
  result.tokens = plan.ranks.empty() ? plan.kv_tokens : plan.ranks.front().log_tokens;
  for (const RankPlan& rank : plan.ranks) result.tokens = std::min(result.tokens, rank.log_tokens);
  return result;
}

Obstacle obstacle_of(const Estimate& e, const Plan& plan, const EngineSettings& settings,
                     uint64_t weights, uint64_t everything) {
  if (settings.kv_cache_memory_bytes) {
    if (weights > e.total_bytes) return Obstacle::kWeightsExceedBudget;
    if (everything > e.total_bytes) return Obstacle::kCacheExceedsMemory;
  } else if (weights > e.requested_bytes) {
    return Obstacle::kWeightsExceedBudget;
  }
  if (plan.refusal == Refusal::kNoMemory) return Obstacle::kNoRoomForCache;
  return plan.ok() ? Obstacle::kNone : Obstacle::kContextTooLong;
}

// What the engine refuses before it looks at memory.
Obstacle refused_by_settings(const ModelShape& model, const EngineSettings& settings) {
  if (model.num_heads % std::max(settings.tensor_parallel, 1U) != 0) {
    return Obstacle::kHeadsNotDivisible;
  }
  const bool checked = settings.model_length_limit != 0 && !settings.auto_fit_max_model_len;
  return checked && settings.max_model_len > settings.model_length_limit
             ? Obstacle::kLengthAboveModel
             : Obstacle::kNone;
}

// Plans at the ends of what is available.
struct Plans {
  Plan low, best, high;
};

// An obstacle at the optimistic end is certain, and is named as the likely end meets it; one at the
// pessimistic end alone is a possibility.
void judge(Estimate& e, const ModelShape& model, const EngineSettings& settings,
           const Plans& plans) {
  const Interval& weights = e.term("weights")->bytes;
  const Interval all = sum(e.terms, true);
  const uint64_t fixed = settings.kv_cache_memory_bytes.value_or(0);
  const auto at = [&](const Plan& plan, uint64_t Interval::*end) {
    return obstacle_of(e, plan, settings, weights.*end, add(all.*end, fixed));
  };
  e.obstacle_certain = at(plans.high, &Interval::low) != Obstacle::kNone;
  e.obstacle =
      e.obstacle_certain ? at(plans.best, &Interval::best) : at(plans.low, &Interval::high);
  if (const Obstacle refused = refused_by_settings(model, settings); refused != Obstacle::kNone) {
    e.obstacle = refused;
    e.obstacle_certain = true;
  }
  const bool dies = (e.obstacle == Obstacle::kWeightsExceedBudget && weights.low > e.total_bytes) ||
                    e.obstacle == Obstacle::kCacheExceedsMemory;
  if (e.obstacle == Obstacle::kNone) {
    e.verdict = Verdict::kStarts;
  } else if (!e.obstacle_certain) {
    e.verdict = Verdict::kUnsure;
  } else {
    e.verdict = dies ? Verdict::kOutOfMemory : Verdict::kRefuses;
  }
}

void describe_groups(const Plan& plan, Estimate& e) {
  for (const PlanGroup& group : plan.groups) {
    e.groups.push_back({spec_kind_name(group.kind), static_cast<uint32_t>(group.layers.size()),
                        group.block_bytes, group.block_tokens});
  }
}

size_t tightest(const std::vector<Stage>& stages, const Planner& planner, uint64_t length) {
  size_t result = 0;
  double least = 0.0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const double need = static_cast<double>(std::max<uint64_t>(planner.needed_bytes(i, length), 1));
    const double share = static_cast<double>(stages[i].available.best) / need;
    if (i == 0 || share < least) {
      least = share;
      result = i;
    }
  }
  return result;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStarts:
      return "starts";
    case Verdict::kRefuses:
      return "refuses";
    case Verdict::kOutOfMemory:
      return "out_of_memory";
    case Verdict::kUnsure:
      return "unsure";
  }
  return "";
}

const Term* Estimate::term(std::string_view name) const {
  const auto found =
      std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.name == name; });
  return found == terms.end() ? nullptr : &*found;
}

Estimate estimate(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu) {
  Estimate e;
  e.total_bytes = gpu.total_bytes;
  e.requested_bytes = settings.kv_cache_memory_bytes ? 0 : requested(settings, gpu);
  std::vector<Stage> stages;
  for (uint32_t i = 0; i < std::max(settings.pipeline_parallel, 1U); ++i) {
    stages.push_back(make_stage(model, settings, gpu, i));
  }
  const Planner planner(plan_input(model, settings));
  const std::vector<int64_t> low = at_end(stages, &SignedInterval::low);
  const std::vector<int64_t> best = at_end(stages, &SignedInterval::best);
  const std::vector<int64_t> high = at_end(stages, &SignedInterval::high);
  const Plans plans = {planner.plan(low), planner.plan(best), planner.plan(high)};
  e.low = capacity(planner, plans.low, low);
  e.best = capacity(planner, plans.best, best);
  e.high = capacity(planner, plans.high, high);
  e.max_model_len = plans.best.ok() ? plans.best.max_model_len : settings.max_model_len;

  const size_t rank = tightest(stages, planner, e.max_model_len);
  e.tightest_stage = static_cast<uint32_t>(rank);
  e.terms = stages[rank].terms;
  e.available = stages[rank].available;
  e.outside = stages[rank].outside;
  e.needed_bytes = planner.needed_bytes(rank, e.max_model_len);
  e.bytes_per_token = planner.bytes_per_token(rank);
  describe_groups(plans.high.ok() ? plans.high : plans.best, e);
  judge(e, model, settings, plans);
  e.because = because(model, settings, e);
  return e;
}

}  // namespace kvbudget::memory
