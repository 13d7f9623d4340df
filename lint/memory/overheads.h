// Memory that no tensor of the model holds: CUDA and communication libraries, captured graphs.
#pragma once

#include "lint/memory/bytes.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// What the engine logs as non-torch memory of one rank.
Interval non_torch_bytes(const EngineSettings& settings, const GpuMemory& gpu);

/// What the CUDA contexts of a rank take before the engine counts anything, outside its budget.
Interval cuda_context_bytes(const EngineSettings& settings);

/// The pool of captured CUDA graphs of one rank; zero with eager mode.
Interval cuda_graph_bytes(const ModelShape& model, const EngineSettings& settings);

}  // namespace kvbudget::memory
