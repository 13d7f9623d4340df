// Layers that attend to what an encoder made of its input (family.h, Cross).
#pragma once

#include <vector>

#include "lint/models/layers.h"
#include "lint/models/weights.h"

namespace kvbudget::models {

/// Layers of the decoder: encoder-decoder models count those of the encoder as the model's.
uint32_t decoder_layers(const Config& config, const Family& family,
                        const memory::ModelShape& shape);

/// Sets LayerPlan::cross.
void mark_cross_layers(const Config& config, const Family& family, std::vector<LayerPlan>& plan);

/// The weights of one layer's cross attention.
void add_cross_attention(const Family& family, const LayerPlan& layer,
                         const memory::ModelShape& shape, WeightList& list);

}  // namespace kvbudget::models
