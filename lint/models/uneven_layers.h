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
/// A list of windows, null for layers without.
void adjust_windows(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Passes after the first look at a window.
void adjust_loops(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Norms behind the mixer and the MLP too, where the config asks for them.
void adjust_outer_norms(const Config& config, memory::ModelShape& shape,
                        std::vector<LayerPlan>& plan);
/// A dense MLP beside the experts.
void adjust_grok(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
void adjust_arctic(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// One layer of attention in the middle of each step.
void adjust_plamo2(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Refuses a Bamba model that does not say which layers are attention.
void check_bamba(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Refuses what Jais models have never been: learned positions, an MLP without a gate.
void check_jais(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// Layers found by architecture search, one entry of block_configs each.
void adjust_blocks(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);

/// The same for layers that are one thing each (Nemotron 3 Puzzle).
void adjust_puzzle(const Config& config, memory::ModelShape& shape, std::vector<LayerPlan>& plan);
/// What newer configs of any family say of single layers: {"5": {"head_dim": 512}}.
void apply_layer_config(const Config& config, std::vector<LayerPlan>& plan);

}  // namespace kvbudget::models
