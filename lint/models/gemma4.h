// What Gemma 4 adds to Gemma 3: full layers with heads of their own size, layers that use the cache
// of an earlier one, and an embedding for every layer.
#pragma once

#include "lint/models/layers.h"
#include "lint/models/weights.h"

namespace kvbudget::models {

/// Gives the layers their own heads, widths and caches.
void adjust_gemma4_layers(const Config& config, const memory::ModelShape& shape,
                          std::vector<LayerPlan>& plan);

/// The embeddings for every layer and their projections, where the model has them.
void add_layer_embeddings(const Config& config, const memory::ModelShape& shape, WeightList& list);

}  // namespace kvbudget::models
