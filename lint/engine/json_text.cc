#include "lint/engine/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lint/engine/numbers.h"
#include "lint/engine/table.h"

namespace kvbudget {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;  // of YAML values; aliases could nest without end otherwise

Json parse(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json scalar_json(const Node& node) {
  const std::string_view text = node.scalar();
  if (node.style != Node::Style::kPlain) return std::string(text);
  const Json value = parse(text);
  const bool plain = value.is_number() || value.is_boolean() || value.is_null();
  return plain ? value : Json(std::string(text));
}

Json json_value(const Node& node, int depth) {
  if (depth > kMaxDepth || node.kind == Node::Kind::kNull) return nullptr;
  if (node.is_scalar()) return scalar_json(node);
  if (node.is_sequence()) {
    Json list = Json::array();
    for (const NodePtr& item : node.items) list.push_back(json_value(*item, depth + 1));
    return list;
  }
  Json object = Json::object();
  for (const Entry& entry : node.entries) {
    object[entry.key.str()] = json_value(*entry.value, depth + 1);
  }
  return object;
}

Json dotted_json(std::string_view text, bool human_numbers) {
  const Json value = parse(text);
  if (!value.is_discarded()) return value;
  const std::optional<int64_t> number =
      human_numbers ? human_int(text, FlagType::kHumanInt, Version{0, 20, 0}) : std::nullopt;
  return number ? Json(*number) : Json(std::string(text));
}

void append_items(Json& list, std::string_view text) {
  if (!list.is_array()) list = Json::array();
  for (const std::string_view item : split(text, ',')) list.push_back(std::string(item));
}

}  // namespace

bool is_json(std::string_view text) { return Json::accept(text.begin(), text.end()); }

bool is_json_object(std::string_view text) { return parse(text).is_object(); }

std::optional<std::string> json_member(std::string_view object, std::string_view key) {
  const Json parsed = parse(object);
  if (!parsed.is_object()) return std::nullopt;
  const auto found = parsed.find(std::string(key));
  if (found == parsed.end() || found->is_null()) return std::nullopt;
  return found->is_string() ? found->get<std::string>() : dump(*found);
}

std::optional<std::vector<int64_t>> json_integers(std::string_view object, std::string_view key) {
  const Json parsed = parse(object);
  if (!parsed.is_object()) return std::nullopt;
  const auto found = parsed.find(std::string(key));
  if (found == parsed.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json& item : *found) {
    if (!item.is_number_integer()) return std::nullopt;
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

std::string json_of(const Node& node) { return dump(json_value(node, 0)); }

std::string python_of(const Node& node) {
  std::string text = json_of(node);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

std::string fold_dotted(std::span<const DottedValue> values, bool human_numbers) {
  Json root = Json::object();
  for (const DottedValue& dotted : values) {
    std::string_view path = dotted.path;
    const bool appends = path.ends_with('+');
    if (appends) path.remove_suffix(1);
    Json* place = &root;
    for (const std::string_view key : split(path, '.')) {
      if (!place->is_object()) *place = Json::object();
      place = &(*place)[std::string(key)];
    }
    if (appends) {
      append_items(*place, dotted.value);
    } else {
      *place = dotted_json(dotted.value, human_numbers);
    }
  }
  return dump(root);
}

}  // namespace kvbudget
