// Families whose layers differ from each other by more than a window: in heads, in widths, or in
// having attention at all.
#pragma once

#include <vector>

#include "lint/models/config.h"
#include "lint/models/layers.h"

namespace kvbudget::models {

/// Heads by layer, gates on the outputs.
void adjust_laguna(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Sliding layers with heads of their own; values narrower than keys.
void adjust_mimo_v2(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Sliding layers with more query heads, gates by head.
void adjust_step3p5(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// A dense MLP beside the experts.
void adjust_grok(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
void adjust_arctic(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Refuses a Bamba model that does not say which layers are attention.
void check_bamba(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Refuses what Jais models have never been: learned positions, an MLP without a gate.
void check_jais(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Layers found by architecture search, one entry of block_configs each.
void adjust_blocks(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);

}  // namespace kvbudget::models
