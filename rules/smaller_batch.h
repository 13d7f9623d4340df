// Whether a smaller max-num-batched-tokens is the way out of a lack of memory.
#pragma once

#include <cstdint>

#include "lint/deployment.h"

namespace kvbudget {

/// The engine's own default on a card of that size.
uint32_t usual_batch(uint64_t total_bytes);

/// The estimate with another max-num-batched-tokens.
memory::Estimate what_if_batch(const Deployment& d, uint32_t tokens);

/// Less than the batch in force, and still one that the engine takes: without chunked prefill a
/// step has to hold a whole prompt.
bool may_be_lowered(const Deployment& d, uint32_t tokens);

/// The batch that starts where the one in force does not; 0 where none does.
uint32_t batch_that_starts(const Deployment& d);

}  // namespace kvbudget
