#include "lint/memory/suggest.h"

#include <algorithm>

#include "lint/memory/estimate.h"

namespace kvbudget::memory {
namespace {

bool starts(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu) {
  return estimate(model, settings, gpu).low.holds_one_request;
}

}  // namespace

bool heads_divide(const ModelShape& model, uint32_t tensor_parallel) {
  if (tensor_parallel == 0 || model.num_heads % tensor_parallel != 0) return false;
  return std::all_of(model.caches.begin(), model.caches.end(), [&](const LayerCache& layer) {
    const bool divided = layer.kind == CacheKind::kFull || layer.kind == CacheKind::kSliding ||
                         layer.kind == CacheKind::kChunked;
    if (!divided || layer.kv_heads == 0) return true;
    return layer.kv_heads >= tensor_parallel ? layer.kv_heads % tensor_parallel == 0
                                             : tensor_parallel % layer.kv_heads == 0;
  });
}

uint32_t smallest_tensor_parallel(const ModelShape& model, EngineSettings settings,
                                  const GpuMemory& gpu) {
  constexpr uint32_t kLargest = 64;
  for (uint32_t size = settings.tensor_parallel + 1; size <= kLargest; ++size) {
    if (!heads_divide(model, size)) continue;
    settings.tensor_parallel = size;
    if (starts(model, settings, gpu)) return size;
  }
  return 0;
}

uint32_t fewer_sequences(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu) {
  constexpr uint32_t kStep = 8;
  const uint64_t blocks = estimate(model, settings, gpu).low.num_blocks;
  const auto held = static_cast<uint32_t>(std::min<uint64_t>(blocks / kStep * kStep, UINT32_MAX));
  for (const uint32_t count : {held, 512U, 256U, 128U, 64U, 32U, 16U, 8U, 4U, 2U, 1U}) {
    if (count == 0 || count >= settings.max_num_seqs || (blocks != 0 && count > blocks)) {
      continue;
    }
    const auto change = [&](EngineSettings& changed) { changed.max_num_seqs = count; };
    if (estimate_with(model, settings, gpu, change).obstacle == Obstacle::kNone) return count;
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
