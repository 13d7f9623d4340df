#include "lint/memory/load.h"

#include <algorithm>
#include <cmath>

#include "lint/memory/layer_specs.h"
#include "lint/memory/plan.h"
#include "lint/memory/weights.h"

namespace kvbudget::memory {
namespace {

/// Behind its prompt a request holds of a window what the next token reads, not a whole batch.
Planner decoding_planner(const ModelShape& model, const EngineSettings& settings) {
  PlanInput input = plan_input(model, settings);
  input.max_num_batched_tokens = 1;
  input.max_in_flight_tokens = 1;
  return Planner(std::move(input));
}

/// Weights of a stage on one rank, of the kinds that `reads` names.
template <typename Reads>
uint64_t weight_bytes(const ModelShape& model, const EngineSettings& settings, Reads reads) {
  ModelShape part = model;
  std::erase_if(part.weights, [&](const Weight& weight) { return !reads(weight); });
  part.rotary_cache_positions = 0;
  part.encoder = {};
  uint64_t bytes = 0;
  for (uint32_t stage = 0; stage < std::max(settings.pipeline_parallel, 1U); ++stage) {
    bytes = add(bytes, rank_weight_bytes(part, settings, stage));
  }
  return bytes;
}

/// Of `num_experts`, the share that `batch` tokens with `experts_per_token` choices each touch.
double touched_experts(const ModelShape& model, double batch) {
  if (model.num_experts == 0) return 0.0;
  const double chosen = std::min(
      1.0, static_cast<double>(model.experts_per_token) / static_cast<double>(model.num_experts));
  return 1.0 - std::pow(1.0 - chosen, std::max(batch, 1.0));
}

}  // namespace

HeldRequests held_requests(const ModelShape& model, const EngineSettings& settings,
                           const Estimate& e, RequestTokens request) {
  const Planner planner = decoding_planner(model, settings);
  const uint64_t prefix =
      settings.prefix_caching ? std::min(request.shared_prefix, request.tokens) : 0;
  const uint64_t shared = planner.prefix_blocks(prefix);
  const uint64_t own = std::max<uint64_t>(less(planner.request_blocks(request.tokens), shared), 1);
  const auto held = [&](const Capacity& capacity) {
    // One block of the pool is the null block.
    const uint64_t blocks = less(less(capacity.num_blocks, 1), shared);
    return static_cast<double>(blocks) / static_cast<double>(own);
  };
  return {held(e.low), held(e.best), held(e.high)};
}

uint64_t decode_step_bytes(const ModelShape& model, const EngineSettings& settings, double batch,
                           uint64_t context) {
  // Of the table of embeddings a step reads a row a token; where the head is tied to it, the whole.
  const auto is_layer = [&](const Weight& weight) {
    const bool table = weight.place == Place::kFirstStage && weight.split == Split::kVocabulary;
    return weight.encoder == Encoder::kNone && (!table || model.tied_embeddings);
  };
  const uint64_t dense = weight_bytes(model, settings, [&](const Weight& weight) {
    return is_layer(weight) && !weight.expert && weight.place != Place::kLastStageCopy;
  });
  const uint64_t experts =
      weight_bytes(model, settings, [](const Weight& weight) { return weight.expert; });
  const Planner planner(plan_input(model, settings));
  uint64_t per_token = 0;
  for (size_t rank = 0; rank < planner.num_ranks(); ++rank) {
    per_token = add(per_token, planner.bytes_per_token(rank));
  }
  const double cache = batch * static_cast<double>(context) * static_cast<double>(per_token);
  const double touched = static_cast<double>(experts) * touched_experts(model, batch);
  constexpr double kMost = 1e18;
  return add(dense, static_cast<uint64_t>(std::min(cache + touched, kMost)));
}

}  // namespace kvbudget::memory
