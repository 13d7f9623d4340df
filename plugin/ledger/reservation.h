// How many blocks of the pool a request may come to hold in its whole life, over all KV cache
// groups: what has to be reserved so that the engine's allocation never fails for it.
//
// As the engine counts (vllm/v1/core/single_type_kv_cache_manager.py and kv_cache_interface.py,
// 0.24 to 0.33): full attention keeps every token; sliding windows and chunks keep at most
// max_admission_blocks_per_request; recurrent state keeps a fixed number; cross attention keeps the
// encoder's tokens.
#pragma once

#include <cstdint>
#include <span>

namespace kvbudget::ledger {

enum class GroupKind : uint8_t {
  kFull,     ///< grows with every token
  kBounded,  ///< grows with every token up to `most_blocks` (sliding window, chunked)
  kState,    ///< `most_blocks` from the first token on
  kCross,    ///< the encoder's tokens
};

struct Group {
  GroupKind kind = GroupKind::kFull;
  uint32_t block_tokens = 16;
  uint64_t most_blocks = 0;  ///< kBounded, kState
};

struct RequestSize {
  uint64_t prompt_tokens = 0;
  uint64_t output_tokens = 0;     ///< that it may generate
  uint64_t lookahead_tokens = 0;  ///< drafts that a step may write beyond them
  uint64_t encoder_tokens = 0;
};

/// Blocks of all groups together. `max_model_len` bounds the tokens, 0 for no bound. A token more
/// than prompt and output is counted, since a step allocates for the token it is about to sample;
/// `partial_block` adds one block a group for a copied tail (prefix caching) or a step in flight
/// (async scheduling).
uint64_t request_blocks(std::span<const Group> groups, const RequestSize& size,
                        uint64_t max_model_len, bool partial_block);

}  // namespace kvbudget::ledger
