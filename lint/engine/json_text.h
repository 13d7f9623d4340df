// JSON inside settings. The only file of this folder that knows the JSON library; nothing throws.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

bool is_json(std::string_view text);
bool is_json_object(std::string_view text);

/// A member of an object, as JSON text; strings come without quotes. Nullopt when `object` is no
/// JSON object, has no such key, or the value is null.
std::optional<std::string> json_member(std::string_view object, std::string_view key);
/// A member that is a list of integers; others give nullopt.
std::optional<std::vector<int64_t>> json_integers(std::string_view object, std::string_view key);

/// The JSON text of a YAML value. Plain numbers, booleans and nulls keep their type.
std::string json_of(const Node& node);
/// The same as Python's str() prints it, near enough: single quotes make it no JSON.
std::string python_of(const Node& node);

/// `--flag.path value`: the path behind the first dot, "a.b"; a trailing `+` appends to a list.
struct DottedValue {
  std::string path;
  std::string value;
};

/// The object that dotted options build. Values are JSON where they can be, else text; numbers with
/// a suffix (8g) are numbers when `human_numbers`.
std::string fold_dotted(std::span<const DottedValue> values, bool human_numbers);

}  // namespace kvbudget
