// --quantization on a checkpoint of 16-bit weights: the engine converts linear layers as it loads.
#pragma once

#include <string_view>

#include "lint/memory/model_shape.h"

namespace kvbudget::models {

/// Gives the linear layers of `shape` the format of `method` ("fp8", "bitsandbytes", …);
/// embeddings, head, norms and routers stay. False, and nothing changed, when the method only loads
/// checkpoints that are packed already.
bool quantize_online(memory::ModelShape& shape, std::string_view method);

}  // namespace kvbudget::models
