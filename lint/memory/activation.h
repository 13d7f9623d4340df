// The activation peak of the profile run: what torch holds beside the weights when the engine has
// pushed one full batch of dummy tokens through and sampled from it.
#pragma once

#include <cstdint>

#include "lint/memory/bytes.h"
#include "lint/memory/engine_model.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

Interval activation_peak(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu, uint32_t stage, const Fitted& fitted);

/// The largest item that the profile takes through the encoder, in tokens: an image, or a video
/// that fills the context. 0 where it takes none, or none that is known.
struct LargestItem {
  uint64_t tokens = 0;
  bool is_video = false;
};
LargestItem largest_item(const ModelShape& model, const EngineSettings& settings);

/// What the sampler's warm-up takes after the cache has been allocated. The memory of the profile's
/// peak is free for it; runner V2 profiles less than this.
Interval sampler_warm_up(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu);

}  // namespace kvbudget::memory
