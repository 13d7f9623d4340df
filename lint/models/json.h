// JSON as models carry it: RFC 8259, and the bare Infinity and NaN that Python writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kvbudget::models {

using Json = nlohmann::json;

struct ParsedJson {
  Json value;
  std::string error;  ///< empty when `value` holds an object
};

/// Parses text whose root must be an object. Never throws; nesting is limited.
ParsedJson parse_json_object(std::string_view text);

}  // namespace kvbudget::models
