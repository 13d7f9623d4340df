// What an engine would do with other settings: how rules find out whether a change helps.
#pragma once

#include "lint/deployment.h"
#include "lint/memory/suggest.h"

namespace kvbudget {

/// The estimate of `d`, which has one, after `change` has been made to a copy of its settings.
template <typename Change>
memory::Estimate what_if(const Deployment& d, Change change) {
  return memory::estimate_with(*d.shape, d.engine, d.card(), change);
}

/// The smallest tensor-parallel size above the one in force that starts, 0 where none does or the
/// card cannot be joined with others.
inline uint32_t smallest_tensor_parallel(const Deployment& d) {
  return d.gpu->is_slice() ? 0 : memory::smallest_tensor_parallel(*d.shape, d.engine, d.card());
}

/// The same without the profile run of encoders; they are left out altogether where the release
/// does that for a model that is to take no images (0.15).
inline memory::Estimate what_if_text_only(const Deployment& d) {
  return what_if(d, [](memory::EngineSettings& settings) {
    settings.profile_encoders = false;
    if (!settings.release.at_least(15)) return;
    settings.vision_encoder = false;
    settings.audio_encoder = false;
  });
}

/// The same with weights and cache in the checkpoint's 16-bit type instead of float32.
inline memory::Estimate what_if_16_bit(const Deployment& d) {
  return what_if(d, [&](memory::EngineSettings& settings) {
    using layout::name;
    if (settings.kv_cache_dtype == name(settings.dtype)) {
      settings.kv_cache_dtype = name(d.shape->dtype);
    }
    settings.dtype = d.shape->dtype;
  });
}

}  // namespace kvbudget
