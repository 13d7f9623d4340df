// vLLM's own KV-cache plan: how many blocks fit, what they hold, and whether the engine starts.
//
// `Planner` groups the layers once; plans for several amounts of memory, the need of a length and
// the longest context are then cheap. Everything is per rank, because pipeline stages differ.
//
// Source: get_kv_cache_configs in vllm/v1/core/kv_cache_utils.py, 0.10 to 0.33; what differs
// between the versions is in plan_rules.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lint/memory/engine_settings.h"
#include "lint/memory/grouping.h"
#include "lint/memory/rank_layout.h"

namespace kvbudget::memory {

enum class MambaMode : uint8_t { kNone, kAlign, kAll };

struct PlanInput {
  EngineRelease release;
  SpecList specs;                              ///< the distinct specs of the layers
  std::vector<uint32_t> layers;                ///< by layer, into specs
  std::vector<std::vector<uint32_t>> workers;  ///< layers of each rank; empty: one rank holds all
  uint64_t max_model_len = 0;
  bool auto_fit = false;
  uint64_t max_num_batched_tokens = 0;
  uint64_t max_in_flight_tokens = 0;  ///< batches in flight x batch tokens (from 0.26)
  uint64_t max_encoder_tokens = 0;    ///< of cross attention
  uint32_t block_tokens = 16;         ///< the flag; 0.10 logs by it
  uint32_t decode_context_parallel = 1;
  uint32_t prefill_context_parallel = 1;
  std::optional<uint64_t> num_gpu_blocks_override;
  bool hybrid_manager = true;
  bool blocks_outermost = false;  ///< cache layouts BLHNC, BLNHC and BHLNC (from 0.29)
  MambaMode mamba_mode = MambaMode::kNone;
};

enum class Refusal : uint8_t {
  kNone,
  kNoMemory,           ///< nothing is left for the cache
  kTooSmall,           ///< one request of max_model_len does not fit
  kAutoFitImpossible,  ///< not even one token fits
  kUnsupported,        ///< the engine cannot lay this mixture of layers out
};

struct PlanGroup {
  SpecKind kind = SpecKind::kFull;
  bool mixed = false;  ///< layers of several page sizes
  uint32_t block_tokens = 0;
  uint32_t window_tokens = 0;  ///< 0: none
  uint64_t page_bytes = 0;     ///< of one layer; mixed: 0
  uint64_t block_bytes = 0;    ///< of all its layers
  std::vector<uint32_t> layers;
  std::vector<uint64_t> layer_page_bytes;  ///< by layer; mixed groups only
};

struct RankPlan {
  int64_t available_bytes = 0;  ///< that the check offered
  uint64_t needed_bytes = 0;    ///< that it asked for
  uint64_t tensor_bytes = 0;
  double max_concurrency = 0.0;  ///< as this version logs it
  uint64_t log_tokens = 0;       ///< "GPU KV cache size" as this version logs it
};

struct Plan {
  Refusal refusal = Refusal::kNone;
  uint32_t worker = 0;          ///< that failed; 0 where the check is for all ranks together
  int64_t available_bytes = 0;  ///< of that worker
  uint64_t needed_bytes = 0;
  uint64_t estimated_max_len = 0;  ///< in the engine's message; 0: not even one token
  std::vector<PlanGroup> groups;
  std::vector<RankPlan> ranks;
  uint64_t num_blocks = 0;       ///< of every rank; one is the null block
  double max_concurrency = 0.0;  ///< as the scheduler counts it; RankPlan has the logged one
  uint64_t kv_tokens = 0;        ///< max_concurrency x max_model_len
  uint64_t max_model_len = 0;    ///< after auto-fit
  bool ok() const { return refusal == Refusal::kNone; }
};

class Planner {
 public:
  explicit Planner(PlanInput input);

  /// `available_bytes` by rank.
  Plan plan(const std::vector<int64_t>& available_bytes) const;

  bool supported() const { return supported_; }
  size_t num_ranks() const { return ranks_.size(); }

  /// What one block takes of a rank's memory.
  uint64_t block_bytes(size_t rank) const { return ranks_[rank].block_bytes; }

  /// For one request of `length` tokens, as the engine's check counts it.
  uint64_t needed_bytes(size_t rank, uint64_t length) const;

  /// The longest request up to `limit` that passes the engine's check with `available_bytes`.
  uint64_t longest_context(size_t rank, int64_t available_bytes, uint64_t limit) const;

  /// The longest request up to `limit` that `num_blocks` hold, the null block left out. Differs
  /// from longest_context where the check does not see all groups (0.14 to 0.18), so that the
  /// engine starts with lengths that it can never serve.
  uint64_t longest_request(size_t rank, uint64_t num_blocks, uint64_t limit) const;

  /// Requests of `length` tokens that `num_blocks` hold at once, as the scheduler counts them; 0
  /// where nothing is cached.
  double concurrency(uint64_t num_blocks, uint64_t length) const;
  /// Blocks of the pool that one request of `length` tokens holds, all groups together.
  uint64_t request_blocks(uint64_t length) const;
  /// Of them those that a prefix of `length` tokens fills and requests share: groups without a
  /// window.
  uint64_t prefix_blocks(uint64_t length) const;

  /// What one more token of a long sequence costs: layers that grow with the context, unpadded.
  uint64_t bytes_per_token(size_t rank) const { return ranks_[rank].bytes_per_token; }

 private:
  void group_ranks();
  void lay_out_groups(const Grouping& grouping);
  bool refuses_windows(const Demand& demand) const;
  bool check(size_t rank, int64_t offered, uint64_t length, Plan& plan) const;
  bool check_layers(const std::vector<int64_t>& available, Plan& plan) const;
  bool fit_length(const std::vector<int64_t>& offered, Plan& plan) const;
  bool check_ranks(const std::vector<int64_t>& offered, Plan& plan) const;
  bool place_blocks(const std::vector<int64_t>& budget, Plan& plan) const;
  void report(const std::vector<uint64_t>& rank_blocks, Plan& plan) const;
  uint64_t logged_tokens(const RankLayout& rank, uint64_t blocks, const RankPlan& result,
                         uint64_t length) const;

  PlanInput input_;
  PlanRules rules_;
  RequestLimits limits_;
  std::vector<PlanGroup> groups_;
  std::vector<RankLayout> ranks_;
  Demand whole_model_;
  bool supported_ = true;
};

}  // namespace kvbudget::memory
