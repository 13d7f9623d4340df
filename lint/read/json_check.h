// JSON files must be strict JSON: YAML's parser would let comments and trailing commas pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvbudget {

struct JsonError {
  uint32_t offset = 0;
  std::string message;
};

/// The first thing that is not JSON, or nothing.
std::optional<JsonError> check_json(std::string_view text);

}  // namespace kvbudget
