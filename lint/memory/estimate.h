// The memory of one engine, rank by rank, as vLLM divides it:
//
//   available = utilisation x total - weights - activation peak - non-torch - CUDA graphs (from
//   0.20)
//
// and the KV cache that fits into it. `estimate` redoes the engine's own arithmetic for the
// engine's own version; where the engine measures (activation peak, NCCL buffers, graph pools) the
// term is an interval. Terms err independently of each other, so the ends of a sum are the root of
// the summed squares away from its middle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/memory/bytes.h"
#include "lint/memory/engine_model.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

struct Term {
  std::string name;  ///< "weights", "activation", "non_torch", "cuda_graphs"
  Interval bytes;
  bool in_budget = true;  ///< false: taken outside utilisation x total in this version
  std::string source;     ///< how it was found, in a few words
};

struct CacheGroup {
  std::string kind;  ///< "full", "sliding", "chunked", "mla", "mamba", "cross"
  uint32_t layers = 0;
  uint64_t bytes_per_block = 0;  ///< of all its layers
  uint32_t block_tokens = 0;
};

/// Signed, because what is left can be less than nothing.
struct SignedInterval {
  int64_t low = 0;
  int64_t best = 0;
  int64_t high = 0;
};

enum class Verdict { kStarts, kRefuses, kOutOfMemory, kUnsure };
const char* verdict_name(Verdict verdict);  // "starts", "refuses", "out_of_memory", "unsure"

/// The first thing that keeps an engine from starting; each is one rule's business.
enum class Obstacle {
  kNone,
  kHeadsNotDivisible,        ///< the engine's own check, before any memory is used
  kBatchBelowSeqs,           ///< likewise: max_num_batched_tokens is less than max_num_seqs
  kLengthAboveModel,         ///< likewise: max_model_len is longer than the model was built for
  kBlockExceedsBatch,        ///< likewise: blocks of a hybrid hold more than max_num_batched_tokens
  kBudgetExceedsFree,        ///< the start check: less than utilisation x total is free
  kWeightsExceedBudget,      ///< weights alone are more than the budget (or the card)
  kActivationExceedsMemory,  ///< the profile run, encoder included, does not fit the card
  kNoRoomForCache,           ///< nothing is left for the KV cache
  kContextTooLong,           ///< the cache does not hold one request of max_model_len
  kStateBlocksTooFew,        ///< fewer blocks than max_num_seqs need for recurrent state
  kCacheExceedsMemory,       ///< a cache of fixed size and the rest are more than the card
  kGraphsExceedMemory,       ///< CUDA graphs, taken beside the budget, are more than is left
  kSamplerExceedsMemory,     ///< the sampler's warm-up is more than is left
};

/// The cache has its place, but what the engine takes beside its budget may not have one.
bool is_beside_budget(Obstacle obstacle);

/// A length that services can be compared at, whatever their max_model_len: 8k tokens.
inline constexpr uint64_t kExampleTokens = 8192;

/// What the KV cache holds at one end of the interval.
struct Capacity {
  uint64_t num_blocks = 0;       ///< of the pool, the null block included
  uint64_t tokens = 0;           ///< what this version logs as KV cache size
  double max_concurrency = 0.0;  ///< of requests of max_model_len
  uint64_t longest_context = 0;  ///< longest single request that passes the engine's check, in
                                 ///< tokens
  uint64_t longest_request = 0;  ///< … that the blocks hold in fact; shorter where the check does
                                 ///< not see all groups (0.14 to 0.18) or blocks are overridden
  /// Of requests of kExampleTokens; absent where the engine takes none of that length.
  std::optional<double> example_concurrency;
  bool holds_one_request = false;
};

/// The budget: utilisation x total, as the engine rounds it.
uint64_t requested_bytes(const EngineSettings& settings, uint64_t total);

struct Estimate {
  std::vector<Term> terms;       ///< of the tightest rank
  uint64_t total_bytes = 0;      ///< of the card
  uint64_t requested_bytes = 0;  ///< utilisation x total; 0 when kv_cache_memory_bytes is set
  Interval used;                 ///< sum of the terms inside the budget
  SignedInterval available;      ///< for the KV cache, on the tightest rank
  /// Taken beside the budget: CUDA contexts, fragments, graphs where not counted, and what the
  /// sampler's warm-up needs beyond the profile's peak.
  Interval outside;
  Interval context;                    ///< part of `outside`
  Interval warm_up;                    ///< all that the sampler's warm-up needs
  uint32_t tightest_stage = 0;         ///< pipeline stage of that rank
  std::vector<SignedInterval> stages;  ///< available on each pipeline stage
  std::vector<CacheGroup> groups;
  uint64_t bytes_per_token = 0;  ///< one more token of a long sequence, unpadded
  uint64_t needed_bytes = 0;     ///< for one request of max_model_len
  uint64_t max_model_len = 0;    ///< in force (after auto-fit)
  Capacity low, best, high;      ///< at the ends of `available`
  Verdict verdict = Verdict::kUnsure;
  Obstacle obstacle = Obstacle::kNone;
  bool obstacle_certain = false;  ///< it fails at the optimistic end too
  std::string because;            ///< one sentence with the numbers
  const Term* term(std::string_view name) const;
  /// Block size of the layers that keep tokens, 0 where none does.
  uint32_t attention_block_tokens() const;
};

Estimate estimate(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu,
                  const Fitted& fitted = {});

}  // namespace kvbudget::memory
