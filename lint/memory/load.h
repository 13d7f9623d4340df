// What a load asks of an engine: how many requests its cache holds at once, and what one step of
// decoding reads. Both use the planner's own groups and blocks.
#pragma once

#include <cstdint>

#include "lint/memory/estimate.h"

namespace kvbudget::memory {

struct RequestTokens {
  uint64_t tokens = 0;         ///< that a request has in the cache
  uint64_t shared_prefix = 0;  ///< of them the first, the same in all requests
};

/// Requests at the ends of the estimate.
struct HeldRequests {
  double low = 0.0;
  double best = 0.0;
  double high = 0.0;
};

/// Requests that decode side by side in the pool of `e`: whole blocks, windows as long as they are
/// read, the shared prefix once where prefix caching is on.
HeldRequests held_requests(const ModelShape& model, const EngineSettings& settings,
                           const Estimate& e, RequestTokens request);

/// Bytes that one step of `batch` requests of `context` tokens reads at least, on the ranks of one
/// tensor-parallel slice, stage after stage: weights of the layers (of experts those that a batch
/// can be expected to choose) and the growing part of the cache.
uint64_t decode_step_bytes(const ModelShape& model, const EngineSettings& settings, double batch,
                           uint64_t context);

}  // namespace kvbudget::memory
