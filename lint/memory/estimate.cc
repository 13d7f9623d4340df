#include "lint/memory/estimate.h"

#include <algorithm>
#include <cmath>

#include "lint/memory/activation.h"
#include "lint/memory/explain.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/lora.h"
#include "lint/memory/overheads.h"
#include "lint/memory/plan.h"
#include "lint/memory/verdict.h"
#include "lint/memory/weights.h"

namespace kvbudget::memory {
namespace {

// One pipeline stage: its terms and what they leave. Tensor-parallel ranks of a stage are alike.
struct Stage {
  std::vector<Term> terms;
  Interval used;
  Interval context, warm_up, outside;
  SignedInterval available;
};

int64_t difference(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = INT64_MAX;
  return static_cast<int64_t>(std::min(a, kMost)) - static_cast<int64_t>(std::min(b, kMost));
}

uint64_t weights_on_gpu(const ModelShape& model, const EngineSettings& settings,
                        const GpuMemory& gpu, uint32_t stage) {
  const ExpertTiles tiles = expert_tiles(model, settings, gpu);
  const uint64_t all =
      add(rank_weight_bytes(model, settings, stage, tiles), lora_bytes(model, settings, stage));
  if (settings.cpu_offload_gib <= 0.0) return all;
  const double wanted = settings.cpu_offload_gib * static_cast<double>(kGiB);
  return less(all, offloaded_bytes(model, settings, stage, static_cast<uint64_t>(wanted), tiles));
}

// A sum of figures that err independently of each other.
class Sum {
 public:
  void add_interval(const Interval& bytes) {
    best_ = add(best_, bytes.best);
    below_ += squared(bytes.best, bytes.low);
    above_ += squared(bytes.high, bytes.best);
  }
  Interval interval() const { return {less(best_, root(below_)), best_, add(best_, root(above_))}; }

 private:
  static double squared(uint64_t a, uint64_t b) {
    const double distance = static_cast<double>(less(a, b));
    return distance * distance;
  }
  static uint64_t root(double sum) { return static_cast<uint64_t>(std::sqrt(sum)); }

  uint64_t best_ = 0;
  double below_ = 0.0;
  double above_ = 0.0;
};

constexpr size_t kActivation = 1;  // among the terms of a stage

std::vector<Term> terms_of(const ModelShape& model, const EngineSettings& settings,
                           const GpuMemory& gpu, uint32_t index, const Fitted& fitted) {
  const ProfileRules rules = profile_rules(runner_of(model, settings), settings.release);
  const bool counted = settings.graphs_in_budget.value_or(rules.graphs_in_budget);
  return {
      {"weights", weight_interval(weights_on_gpu(model, settings, gpu, index), model), true,
       settings.lora.slots == 0 ? "tensors of config.json, divided over ranks"
                                : "tensors of config.json and LoRA slots, divided over ranks"},
      {"activation", activation_peak(model, settings, gpu, index, fitted), true,
       "profile run: forward pass and sampler"},
      {"non_torch", non_torch_bytes(model, settings, gpu, fitted), true,
       "seen in start-up logs of this class of GPU"},
      {"cuda_graphs", cuda_graph_bytes(model, settings, gpu, fitted), counted,
       counted ? "counted by this version" : "beside the budget in this version"},
  };
}

// The budget's own range, from the totals that such cards report.
Interval budget_of(const EngineSettings& settings, const GpuMemory& gpu) {
  return {requested_bytes(settings, gpu.lowest()), requested_bytes(settings, gpu.total_bytes),
          requested_bytes(settings, gpu.highest())};
}

// What lies beside the budget once the cache is allocated. Graphs and the sampler's warm-up may use
// what the profile's peak left free inside the budget; V0 has been seen to fail all the same (Gemma
// 3 27B with 0.44 GiB beside the budget, 0.8.3).
Interval outside_of(const Stage& stage, const Interval& warm_up, bool reuses_peak) {
  // Blocks that the allocator cannot join again, kernels loaded late.
  constexpr Interval kFragments = {0, kGiB / 20, kGiB / 4};
  Sum late;
  late.add_interval(warm_up);
  for (const Term& term : stage.terms) {
    if (!term.in_budget) late.add_interval(term.bytes);
  }
  const Interval needed = late.interval();
  const Interval free = reuses_peak ? stage.terms[kActivation].bytes : Interval{};
  Sum outside;
  outside.add_interval(
      {less(needed.low, free.high), less(needed.best, free.best), less(needed.high, free.low)});
  outside.add_interval(stage.context);
  outside.add_interval(kFragments);
  return outside.interval();
}

Interval shifted(const Interval& interval, uint64_t bytes) {
  return {add(interval.low, bytes), add(interval.best, bytes), add(interval.high, bytes)};
}

Stage make_stage(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu,
                 uint32_t index, const Fitted& fitted) {
  Stage stage;
  stage.terms = terms_of(model, settings, gpu, index, fitted);
  stage.context = cuda_context_bytes(model, settings, gpu);
  Sum used;
  for (const Term& term : stage.terms) {
    if (term.in_budget) used.add_interval(term.bytes);
  }
  stage.used = used.interval();
  const Interval warm_up = sampler_warm_up(model, settings, gpu);
  stage.outside = outside_of(stage, warm_up, !settings.v0_engine);
  if (!profile_rules(runner_of(model, settings), settings.release).state_in_budget) {
    stage.outside = shifted(stage.outside, sampler_state_bytes(model, settings));
  }
  stage.warm_up = warm_up;

  const Interval budget = budget_of(settings, gpu);
  // What is left errs upwards where the terms err downwards.
  const uint64_t middle = stage.used.best;
  const auto spread = [](uint64_t a, uint64_t b) {
    return std::hypot(static_cast<double>(a), static_cast<double>(b));
  };
  const int64_t best = difference(budget.best, middle);
  const double down = spread(stage.used.high - middle, less(budget.best, budget.low));
  const double up = spread(middle - stage.used.low, less(budget.high, budget.best));
  stage.available = {best - static_cast<int64_t>(down), best, best + static_cast<int64_t>(up)};
  if (settings.kv_cache_memory_bytes) {
    const auto fixed = difference(*settings.kv_cache_memory_bytes, 0);
    stage.available = {fixed, fixed, fixed};
  }
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
  result.longest_request = kLengthLimit;
  for (size_t rank = 0; rank < available.size(); ++rank) {
    result.longest_request = std::min(result.longest_request,
                                      planner.longest_request(rank, plan.num_blocks, kLengthLimit));
  }
  result.max_concurrency = plan.max_concurrency;
  result.tokens = plan.ranks.empty() ? plan.kv_tokens : plan.ranks.front().log_tokens;
  if (plan.max_model_len >= kExampleTokens && plan.max_concurrency > 0.0) {
    result.example_concurrency = planner.concurrency(plan.num_blocks, kExampleTokens);
  }
  for (const RankPlan& rank : plan.ranks) result.tokens = std::min(result.tokens, rank.log_tokens);
  return result;
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

// int(total * utilization), as vllm/v1/worker/utils.py request_memory (math.ceil from 0.11; one
// byte).
uint64_t requested_bytes(const EngineSettings& settings, uint64_t total) {
  const double bytes = static_cast<double>(total) * settings.gpu_memory_utilization;
  return bytes <= 0.0 ? 0 : static_cast<uint64_t>(bytes);
}

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

uint32_t Estimate::attention_block_tokens() const {
  uint32_t most = 0;
  for (const CacheGroup& group : groups) {
    if (group.kind != spec_kind_name(SpecKind::kMamba)) most = std::max(most, group.block_tokens);
  }
  return most;
}

Estimate estimate(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu,
                  const Fitted& fitted) {
  Estimate e;
  e.total_bytes = gpu.total_bytes;
  e.requested_bytes =
      settings.kv_cache_memory_bytes ? 0 : requested_bytes(settings, gpu.total_bytes);
  std::vector<Stage> stages;
  for (uint32_t i = 0; i < std::max(settings.pipeline_parallel, 1U); ++i) {
    stages.push_back(make_stage(model, settings, gpu, i, fitted));
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

  for (const Stage& stage : stages) e.stages.push_back(stage.available);
  const size_t rank = tightest(stages, planner, e.max_model_len);
  e.tightest_stage = static_cast<uint32_t>(rank);
  Stage& stage = stages[rank];
  e.terms = std::move(stage.terms);
  e.used = stage.used;
  e.available = stage.available;
  e.outside = stage.outside;
  e.context = stage.context;
  e.warm_up = stage.warm_up;
  e.needed_bytes = planner.needed_bytes(rank, e.max_model_len);
  e.bytes_per_token = planner.bytes_per_token(rank);
  describe_groups(plans.high.ok() ? plans.high : plans.best, e);
  judge(e, model, settings, gpu, plans);
  e.because = because(model, settings, e);
  return e;
}

}  // namespace kvbudget::memory
