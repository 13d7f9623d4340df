// Recurrent layers: what they keep per sequence, and their weights.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// Makes `cache` the state of one layer.
void fill_state_cache(const Config& config, State kind, const memory::ModelShape& shape,
                      memory::LayerCache& cache);

void add_state_layer(const Config& config, State kind, const memory::ModelShape& shape,
                     WeightList& list);

}  // namespace kvbudget::models
