// Mixtures of experts.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// Whether `layer` has experts, by the keys that tell dense layers apart.
bool is_moe_layer(const Config& config, uint32_t layer);

/// Router, routed and shared experts of a layer.
void add_experts(const Config& config, const Moe& moe, uint32_t layer, memory::ModelShape& shape,
                 WeightList& list);

}  // namespace kvbudget::models
