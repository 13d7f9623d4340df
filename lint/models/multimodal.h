// Models that wrap a decoder of text in encoders of images: which part is the decoder, and the
// weights of the encoder.
#pragma once

#include <optional>

#include "lint/models/weights.h"

namespace kvbudget::models {

/// The decoder inside a multimodal config.
struct TextPart {
  Config config;
  const Family* family = nullptr;  ///< nullptr: `name` is not in the tables
  std::string name;                ///< architecture or model type of the decoder
};

/// nullopt when `architecture` is not a wrapper that is known here.
std::optional<TextPart> find_text_part(const Config& root, std::string_view architecture);

/// Encoders and projectors, on every rank and stage. Fails on `root` when an encoder's kind is
/// unknown.
void add_towers(const Config& root, memory::ModelShape& shape, WeightList& list);

}  // namespace kvbudget::models
