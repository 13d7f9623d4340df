// The one file that lets nlohmann throw.
//
// Python's json.dump writes bare Infinity, -Infinity and NaN, which no RFC 8259 parser reads
// (config.json of the Nemotron-H family: "time_step_limit": [0.0, Infinity]). Outside of strings
// they are blanked to null before parsing; nothing that memory depends on is infinite.
#include "lint/models/json.h"

namespace kvbudget::models {
namespace {

// Deeper than any config; keeps recursive code that walks the value safe.
constexpr int kMaxDepth = 64;

struct Cleaned {
  std::string text;
  bool too_deep = false;
};

void blank_word(std::string& text, size_t at, std::string_view word) {
  if (text.compare(at, word.size(), word) == 0) text.replace(at, word.size(), "null");
}

Cleaned clean(std::string_view text) {
  Cleaned result{std::string(text)};
  bool in_string = false;
  int depth = 0;
  for (size_t i = 0; i < result.text.size(); ++i) {
    const char c = result.text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') result.too_deep |= ++depth > kMaxDepth;
    if (c == '}' || c == ']') --depth;
    if (c == '-') blank_word(result.text, i, "-Infinity");
    if (c == 'I') blank_word(result.text, i, "Infinity");
    if (c == 'N') blank_word(result.text, i, "NaN");
  }
  return result;
}

// Drops the "[json.exception.parse_error.101] " that people cannot use.
std::string reason(const std::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

ParsedJson parse_json_object(std::string_view text) {
  ParsedJson result;
  const Cleaned cleaned = clean(text);
  if (cleaned.too_deep) {
    result.error = "nested deeper than " + std::to_string(kMaxDepth) + " levels";
    return result;
  }
  try {
    result.value = Json::parse(cleaned.text);
  } catch (const std::exception& error) {
    result.error = reason(error);
    return result;
  }
  if (!result.value.is_object()) result.error = "not a JSON object";
  return result;
}

}  // namespace kvbudget::models
