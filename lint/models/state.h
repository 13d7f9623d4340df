// Recurrent layers: what they keep per sequence, and their weights.
#pragma once

#include <optional>

#include "lint/models/weights.h"

namespace kvbudget::models {

/// Whether a layer is recurrent, where a list of the config says so; nullopt where none does.
std::optional<bool> is_recurrent_by_list(const Config& config, State kind, uint32_t layer);

/// Makes `cache` the state of one layer.
void fill_state_cache(const Config& config, State kind, const memory::ModelShape& shape,
                      memory::LayerCache& cache);

void add_state_layer(const Config& config, State kind, const memory::ModelShape& shape,
                     WeightList& list);

}  // namespace kvbudget::models
