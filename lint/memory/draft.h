// A model together with what drafts tokens for it.
//
// The engine loads a draft after the model, on the last pipeline stage only, and counts both as
// weights: SpecDecodeBaseProposer.load_model in vllm/v1/spec_decode (0.9 to 0.33). Its attention
// layers join the model's in one KV cache.
#pragma once

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// All of `shape` as something that drafts: its layers stand on the last stage.
DraftLayers draft_layers(ModelShape shape);

/// `model` with `draft` loaded beside it.
ModelShape with_draft(const ModelShape& model, const DraftLayers& draft, EngineRelease release);

}  // namespace kvbudget::memory
