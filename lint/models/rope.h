// Rotary embedding: the caches it takes and what it says about the context length.
#pragma once

#include "lint/memory/model_shape.h"
#include "lint/models/config.h"
#include "lint/models/family.h"

namespace kvbudget::models {

/// Fills the rotary cache and ModelShape::context except for the tokenizer's part. `root` is where
/// a multimodal config keeps what its text part lacks.
void read_positions(const Config& config, const Family& family, memory::ModelShape& shape);

}  // namespace kvbudget::models
