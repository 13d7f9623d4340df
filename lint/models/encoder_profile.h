// The largest item that a multimodal model's processor accepts: what vLLM's profile run feeds the
// encoder.
#pragma once

#include "lint/memory/model_shape.h"
#include "lint/models/config.h"

namespace kvbudget::models {

/// From a multimodal config; zeros for encoders whose processor is not known here.
memory::EncoderProfile read_encoder_profile(const Config& root);

}  // namespace kvbudget::models
