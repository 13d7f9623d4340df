#include "lint/memory/suggest.h"

#include "lint/memory/estimate.h"

namespace kvbudget::memory {
namespace {

bool starts(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu) {
  return estimate(model, settings, gpu).low.holds_one_request;
}

}  // namespace

uint32_t smallest_tensor_parallel(const ModelShape& model, EngineSettings settings,
                                  const GpuMemory& gpu) {
  constexpr uint32_t kLargest = 64;
  for (uint32_t size = settings.tensor_parallel + 1; size <= kLargest; ++size) {
    if (model.num_heads % size != 0) continue;
    settings.tensor_parallel = size;
    if (starts(model, settings, gpu)) return size;
  }
  return 0;
}

double smallest_utilization(const ModelShape& model, EngineSettings settings,
                            const GpuMemory& gpu) {
  constexpr int kHighestPercent = 95;
  for (int percent = static_cast<int>(settings.gpu_memory_utilization * 100.0) + 1;
       percent <= kHighestPercent; ++percent) {
    settings.gpu_memory_utilization = percent / 100.0;
    if (starts(model, settings, gpu)) return settings.gpu_memory_utilization;
  }
  return 0.0;
}

}  // namespace kvbudget::memory
