// model.safetensors.index.json: the true size of a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvbudget::models {

/// metadata.total_size; nullopt when the text is empty or is not such an index.
std::optional<uint64_t> checkpoint_bytes(std::string_view index);

}  // namespace kvbudget::models
