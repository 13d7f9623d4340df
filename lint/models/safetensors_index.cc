#include "lint/models/safetensors_index.h"

#include <string>

#include "lint/models/config.h"

namespace kvbudget::models {

std::optional<uint64_t> checkpoint_bytes(std::string_view index) {
  if (index.empty()) return std::nullopt;
  const ParsedJson parsed = parse_json_object(index);
  if (!parsed.error.empty()) return std::nullopt;
  std::string error;
  const auto metadata = Config(parsed.value, error).nested("metadata");
  if (!metadata) return std::nullopt;
  const Json* size = metadata->find("total_size");
  // transformers 4.5x writes it as a float now and then.
  if (size != nullptr && size->is_number_float() && size->get<double>() > 0 &&
      size->get<double>() < 1e18) {
    return static_cast<uint64_t>(size->get<double>());
  }
  return metadata->count("total_size", uint64_t{1} << 60);
}

}  // namespace kvbudget::models
