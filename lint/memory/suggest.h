// What to change so that an engine starts. Each answer is the first that the model of memory
// accepts at its pessimistic end; 0 where there is none.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/estimate.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// Whether tensor parallelism can divide the model's heads: query heads evenly, and key and value
/// heads evenly or as whole copies (vllm/model_executor/models, the attention of each family).
bool heads_divide(const ModelShape& model, uint32_t tensor_parallel);

/// Smallest tensor-parallel size above the one in force that divides the heads and starts, up
/// to 64.
uint32_t smallest_tensor_parallel(const ModelShape& model, EngineSettings settings,
                                  const GpuMemory& gpu);

/// The estimate after `change` has been made to a copy of the settings.
template <typename Change>
Estimate estimate_with(const ModelShape& model, EngineSettings settings, const GpuMemory& gpu,
                       Change change) {
  change(settings);
  return estimate(model, settings, gpu);
}

/// The largest max-num-seqs below the one in force that starts, of round numbers and of what the
/// cache has blocks for.
uint32_t fewer_sequences(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu);

/// Smallest gpu-memory-utilization in steps of 0.01, up to 0.95, that starts.
double smallest_utilization(const ModelShape& model, EngineSettings settings, const GpuMemory& gpu);

}  // namespace kvbudget::memory
