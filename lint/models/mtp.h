// Multi-token prediction: layers of a checkpoint that draft tokens for its others.
#pragma once

#include "lint/models/layers.h"
#include "lint/models/weights.h"

namespace kvbudget::models {

/// Sets ModelShape::mtp where the engine has a class for the MTP layers of `family` and the
/// checkpoint holds some. `root` is all of the config, `config` its decoder's part, `model` the
/// plan of its layers.
void read_mtp(const Config& root, const Config& config, const Family& family,
              const std::vector<LayerPlan>& model, const Quantization& quantization,
              memory::ModelShape& shape);

}  // namespace kvbudget::models
