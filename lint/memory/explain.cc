#include "lint/memory/explain.h"

#include <algorithm>

#include "lint/memory/format.h"

namespace kvbudget::memory {
namespace {

std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', name == "non_torch" ? '-' : ' ');
  return name == "cuda graphs" ? "CUDA graphs" : name;
}

std::string range_text(const SignedInterval& bytes) {
  if (bytes.low == bytes.high) return gib_text(bytes.best);
  return gib_text(bytes.best) + " (" + gib_number(bytes.low) + " to " + gib_number(bytes.high) +
         ")";
}

std::string needs_text(const EngineSettings& settings, const Estimate& e) {
  const bool overridden = settings.num_gpu_blocks_override.has_value();
  return "one request of " + with_commas(e.max_model_len) + " tokens needs " +
         gib_text(e.needed_bytes) + " of KV cache, " +
         (overridden
              ? gib_text(fixed_cache_bytes(settings, e)) + " is what num-gpu-blocks-override makes"
              : range_text(e.available) + " is available");
}

std::string beside_text(const Estimate& e) {
  const uint64_t left = e.total_bytes > e.requested_bytes ? e.total_bytes - e.requested_bytes : 0;
  return gib_text(e.outside.best) + " (" + gib_number(static_cast<int64_t>(e.outside.low)) +
         " to " + gib_number(static_cast<int64_t>(e.outside.high)) +
         ") beside the budget, which leaves " + gib_text(left);
}

}  // namespace

std::string budget_text(const Estimate& estimate, const EngineSettings& settings) {
  std::string text = decimal_text(settings.gpu_memory_utilization, 3) + " x " +
                     gib_number(static_cast<int64_t>(estimate.total_bytes));
  for (const Term& term : estimate.terms) {
    if (!term.in_budget || term.bytes.best == 0) continue;
    text += " - " + gib_number(static_cast<int64_t>(term.bytes.best)) + " " + spoken(term.name);
  }
  return text;
}

uint64_t fixed_cache_bytes(const EngineSettings& settings, const Estimate& estimate) {
  if (!settings.num_gpu_blocks_override) return settings.kv_cache_memory_bytes.value_or(0);
  uint64_t block_bytes = 0;
  for (const CacheGroup& group : estimate.groups)
    block_bytes = add(block_bytes, group.bytes_per_block);
  return mul(*settings.num_gpu_blocks_override, block_bytes);
}

std::string because(const ModelShape& model, const EngineSettings& settings, const Estimate& e) {
  switch (e.obstacle) {
    case Obstacle::kHeadsNotDivisible:
      return std::to_string(model.num_heads) +
             " attention heads cannot be split over tensor-parallel-size " +
             std::to_string(settings.tensor_parallel);
    case Obstacle::kBatchBelowSeqs:
      return "max-num-batched-tokens " + with_commas(settings.max_num_batched_tokens) +
             " must be at least max-num-seqs " + with_commas(settings.max_num_seqs);
    case Obstacle::kLengthAboveModel:
      return "max-model-len " + with_commas(settings.max_model_len) + " is above the " +
             with_commas(settings.model_length_limit) + " tokens that the model was built for";
    case Obstacle::kBlockExceedsBatch:
      return "blocks of " + with_commas(e.attention_block_tokens()) +
             " tokens are more than max-num-batched-tokens " +
             with_commas(settings.max_num_batched_tokens) + " in Mamba cache align mode";
    case Obstacle::kWeightsExceedBudget:
      return "weights take " + gib_text(e.term("weights")->bytes.best) + " of a " +
             gib_text(e.total_bytes) + " GPU";
    case Obstacle::kNoRoomForCache:
      return "nothing is left for the KV cache: " + budget_text(e, settings) + " = " +
             range_text(e.available);
    case Obstacle::kCacheExceedsMemory:
      return "a KV cache of " + gib_text(fixed_cache_bytes(settings, e)) + " and " +
             gib_text(e.used.best) + " of everything else are more than the " +
             gib_text(e.total_bytes) + " of the GPU";
    case Obstacle::kContextTooLong:
      return needs_text(settings, e);
    case Obstacle::kBudgetExceedsFree:
      return "the start check wants " + gib_text(requested_bytes(settings, e.total_bytes)) +
             " of " + gib_text(e.total_bytes) + " to be free, CUDA contexts take about " +
             gib_text(e.context.best);
    case Obstacle::kActivationExceedsMemory:
      return "the profile run needs " + gib_text(e.used.best) + " of a " + gib_text(e.total_bytes) +
             " GPU, " + gib_text(e.term("activation")->bytes.best) + " of it for activations";
    case Obstacle::kStateBlocksTooFew:
      return "max-num-seqs " + std::to_string(settings.max_num_seqs) +
             " is more than the cache's blocks for recurrent state, about " +
             with_commas(e.best.num_blocks);
    case Obstacle::kGraphsExceedMemory:
      return "CUDA graphs run out of memory: contexts and graphs take " + beside_text(e);
    case Obstacle::kSamplerExceedsMemory:
      return "the sampler's warm-up runs out of memory: contexts, graphs and sampler take " +
             beside_text(e);
    case Obstacle::kNone:
      break;
  }
  return needs_text(settings, e) + ": about " + decimal_text(e.best.max_concurrency, 2) +
         " such requests fit";
}

}  // namespace kvbudget::memory
