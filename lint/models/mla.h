// Multi-head latent attention: keys and values of all heads come from one latent vector per token.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// Appends the caches of the layer that `cache` names: the latent vector with its rotary part, and
/// before it the keys of a sparse indexer where the model has one.
void add_latent_caches(const Config& config, memory::LayerCache cache, memory::ModelShape& shape);

/// `expanded`: keys and values are built for each head again, so no copy is folded into queries.
void add_latent_attention(const Config& config, uint32_t layer, bool expanded,
                          const memory::ModelShape& shape, WeightList& list);

}  // namespace kvbudget::models
