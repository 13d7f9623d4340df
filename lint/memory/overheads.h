// Memory that no tensor of the model holds: CUDA and communication libraries, captured graphs.
#pragma once

#include "lint/memory/bytes.h"
#include "lint/memory/engine_model.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// What the engine logs as non-torch memory of one rank. From 0.27 it measures what the device has
/// lost instead, and the sampler's state is part of that.
Interval non_torch_bytes(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu, const Fitted& fitted);

/// What the sampler of runner V2 keeps for every sequence, on the last stage.
uint64_t sampler_state_bytes(const ModelShape& model, const EngineSettings& settings);

/// What the CUDA contexts of a rank take before the engine counts anything, outside its budget.
Interval cuda_context_bytes(const ModelShape& model, const EngineSettings& settings,
                            const GpuMemory& gpu);

/// The pool of captured CUDA graphs of one rank; zero with eager mode. Where the engine subtracts
/// an estimate of its own, that.
Interval cuda_graph_bytes(const ModelShape& model, const EngineSettings& settings,
                          const GpuMemory& gpu, const Fitted& fitted);

}  // namespace kvbudget::memory
