// From a model and an engine's settings to the planner's input: each layer's cache spec on one
// tensor-parallel rank, and the layers of each pipeline stage.
//
// Source: the get_kv_cache_spec methods of vllm/model_executor/layers/attention and
// vllm/model_executor/layers/mamba, get_pp_indices in vllm/distributed/utils.py, 0.10 to 0.33.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"
#include "lint/memory/plan.h"

namespace kvbudget::memory {

/// Decoder layers [first, end) of a pipeline stage.
struct StageLayers {
  uint32_t first = 0;
  uint32_t end = 0;
  uint32_t count() const { return end - first; }
};

/// vLLM's split: what does not divide goes to the stages before the last one, from the back.
StageLayers stage_layers(uint32_t num_layers, uint32_t stages, uint32_t stage);
/// The same, or what the settings say of it.
StageLayers stage_layers(const ModelShape& model, const EngineSettings& settings, uint32_t stage);

/// The kv-cache-dtype in force: the flag, or what the checkpoint asks for.
KvDtype resolved_kv_dtype(const ModelShape& model, const EngineSettings& settings);

/// The spec of one layer on one tensor-parallel rank.
CacheSpec layer_spec(const LayerCache& cache, const ModelShape& model,
                     const EngineSettings& settings);

/// One rank per pipeline stage: tensor-parallel ranks of a stage plan alike.
PlanInput plan_input(const ModelShape& model, const EngineSettings& settings);

}  // namespace kvbudget::memory
