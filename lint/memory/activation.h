// The activation peak of the profile run: what torch holds beside the weights when the engine has
// pushed one full batch of dummy tokens through and sampled from it.
#pragma once

#include <cstdint>

#include "lint/memory/bytes.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

Interval activation_peak(const ModelShape& model, const EngineSettings& settings, uint32_t stage);

/// One dummy sampling step: logits of every sequence and what sorts and masks them. Bytes; part of
/// the peak or not by release (engine_model.h).
uint64_t sampler_bytes(const ModelShape& model, const EngineSettings& settings);

}  // namespace kvbudget::memory
