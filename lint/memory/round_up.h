#pragma once

#include "lint/memory/bytes.h"

namespace kvbudget::memory {

/// The next multiple of `step`, which is not 0. Saturates instead of overflowing.
inline uint64_t round_up(uint64_t value, uint64_t step) { return mul(ceil_div(value, step), step); }

}  // namespace kvbudget::memory
