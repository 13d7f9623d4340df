// Heads and widths of a decoder, from config.json.
#pragma once

#include "lint/memory/model_shape.h"
#include "lint/models/config.h"
#include "lint/models/family.h"

namespace kvbudget::models {

/// Fails on `config` when it holds a key that changes what attention keeps and that `family` does
/// not claim.
void refuse_unknown_attention(const Config& config, const Family& family);

/// Layers, hidden size, heads, head size, vocabulary, intermediate size.
void read_dimensions(const Config& config, const Family& family, memory::ModelShape& shape);

}  // namespace kvbudget::models
