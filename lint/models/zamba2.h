// Zamba2: every layer is Mamba 2, some also run one of a few attention blocks that they share.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// The shared blocks, and what each hybrid layer has of its own to use one.
void add_shared_blocks(const Config& config, const std::vector<LayerPlan>& plan,
                       const memory::ModelShape& shape, WeightList& list);

}  // namespace kvbudget::models
