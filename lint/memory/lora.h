// The slots that --enable-lora sets aside: for each linear layer two stacks of matrices with room
// for max-loras adapters of rank max-lora-rank. They are allocated with the model and count as its
// weights.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// Bytes of all slots on one tensor-parallel rank of pipeline stage `stage`.
uint64_t lora_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage);

}  // namespace kvbudget::memory
