// Gemma 3n: parallel residual streams and a low-rank bypass.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// What every layer adds to a plain decoder's, and the projections between streams.
void add_alternating_updates(const Config& config, const memory::ModelShape& shape,
                             WeightList& list);

}  // namespace kvbudget::models
