// The obstacle decides, except where a setting of the file is what made it: float32 weights, a
// number of blocks set by hand, an encoder's profile run. A lack of memory beside the budget that
// is only possible is a matter of headroom, if the file sets the utilisation; that the engine's own
// default may be too much is nobody's mistake.
#include "rules/obstacle_rule.h"

#include <algorithm>

#include "rules/memory_notes.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

using memory::Obstacle;

bool is_about_memory(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNone:
    case Obstacle::kHeadsNotDivisible:
    case Obstacle::kBatchBelowSeqs:
    case Obstacle::kLengthAboveModel:
    case Obstacle::kBlockExceedsBatch:
      return false;
    default:
      return true;
  }
}

bool float32_is_the_cause(const Deployment& d) {
  if (d.engine.dtype != memory::ElementType::kFloat32) return false;
  return is_about_memory(d.estimate->obstacle) && what_if_16_bit(d).obstacle == Obstacle::kNone;
}

bool blocks_are_the_cause(const Deployment& d) {
  if (!d.engine.num_gpu_blocks_override) return false;
  const auto change = [](memory::EngineSettings& s) { s.num_gpu_blocks_override.reset(); };
  const memory::Estimate e = what_if(d, change);
  return e.obstacle != Obstacle::kContextTooLong || !e.obstacle_certain;
}

// The warm-up needs more than the profile's peak left for it; before 0.17 it sorts, and one output
// of torch.sort (4 bytes of value, 8 of index an entry) has to be found in one piece.
bool sampler_is_the_cause(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  if (e.warm_up.best > e.term("activation")->bytes.best) return true;
  constexpr uint64_t kSortBytes = 12;
  const uint64_t sorted =
      memory::mul(kSortBytes, memory::mul(d.engine.max_num_seqs, d.shape->vocab_size));
  return !d.engine.release.at_least(17) && sorted > left_beside_budget(d);
}

// The profile run samples as well: with few sequences it would pass.
bool sampling_is_the_peak(const Deployment& d) {
  constexpr uint32_t kFew = 64;
  const auto change = [&](memory::EngineSettings& s) {
    s.max_num_seqs = std::min(s.max_num_seqs, kFew);
  };
  return what_if(d, change).obstacle != Obstacle::kActivationExceedsMemory;
}

std::string_view rule_of_profile_run(const Deployment& d) {
  if (what_if_text_only(d).obstacle != Obstacle::kActivationExceedsMemory) return "KVB110";
  return sampling_is_the_peak(d) ? "KVB107" : "KVB109";
}

std::string_view rule_beside_budget(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  const bool sampler = e.obstacle == Obstacle::kSamplerExceedsMemory;
  if (!e.obstacle_certain && !(sampler && sampler_is_the_cause(d))) {
    return d.settings.has("gpu-memory-utilization") ? "KVB106" : "";
  }
  if (sampler) return "KVB107";
  return e.obstacle == Obstacle::kGraphsExceedMemory ? "KVB108" : "KVB105";
}

std::string_view rule_of_fixed_cache(const Deployment& d) {
  return d.engine.num_gpu_blocks_override ? "KVB117" : "KVB116";
}

}  // namespace

bool is_short_of_memory(Obstacle obstacle) {
  return obstacle == Obstacle::kWeightsExceedBudget || obstacle == Obstacle::kNoRoomForCache ||
         obstacle == Obstacle::kContextTooLong || obstacle == Obstacle::kStateBlocksTooFew;
}

std::string_view rule_of_obstacle(const Deployment& d) {
  if (!d.estimate || d.estimate->obstacle == Obstacle::kNone) return "";
  if (float32_is_the_cause(d)) return "KVB120";
  const bool fixed = d.engine.kv_cache_memory_bytes || d.engine.num_gpu_blocks_override;
  switch (d.estimate->obstacle) {
    case Obstacle::kNone:
      return "";
    case Obstacle::kHeadsNotDivisible:
      return "KVB301";
    case Obstacle::kBatchBelowSeqs:
      return "KVB407";
    case Obstacle::kLengthAboveModel:
      return "KVB404";
    case Obstacle::kBlockExceedsBatch:
      return "KVB122";
    case Obstacle::kWeightsExceedBudget:
      return "KVB101";
    case Obstacle::kActivationExceedsMemory:
      return rule_of_profile_run(d);
    case Obstacle::kNoRoomForCache:
      return "KVB102";
    case Obstacle::kContextTooLong:
      if (blocks_are_the_cause(d)) return "KVB117";
      return d.settings.has("max-model-len") ? "KVB103" : "KVB104";
    case Obstacle::kStateBlocksTooFew:
      return "KVB118";
    case Obstacle::kCacheExceedsMemory:
      return rule_of_fixed_cache(d);
    case Obstacle::kBudgetExceedsFree:
      return rule_beside_budget(d);
    case Obstacle::kGraphsExceedMemory:
    case Obstacle::kSamplerExceedsMemory:
      return fixed ? rule_of_fixed_cache(d) : rule_beside_budget(d);
  }
  return "";
}

}  // namespace kvbudget
