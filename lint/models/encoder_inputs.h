// What a multimodal model's class says of its encoders beside their tensors.
#pragma once

#include <string_view>

namespace kvbudget::models {

/// "image,video": without all of these the engine leaves the vision encoder out; empty when it
/// never does.
std::string_view vision_inputs(std::string_view architecture);

/// "audio" where an audio encoder, if the model has one, is left out without audio; else empty.
std::string_view audio_inputs(std::string_view architecture);

/// Whether --mm-encoder-tp-mode data works: every rank then holds whole encoders.
bool may_hold_whole_encoders(std::string_view architecture);

}  // namespace kvbudget::models
