// Engine starts as text, to compare them in tests.
#pragma once

#include <string>

#include "lint/read/engine_start.h"

namespace kvbudget {

inline std::string words_of(const EngineStart& start) {
  std::string result;
  for (const Word& word : start.argv) {
    if (!result.empty()) result += " ";
    result += (word.known ? "" : "?") + word.text.str();
  }
  return result;
}

inline std::string place_of(const EngineStart& start) {
  const ByteRange range = start.where.range;
  return std::string(start.file->bytes().substr(range.begin, range.end - range.begin));
}

/// Value of a variable, "?" when it is not known, "-" when it is not set.
inline std::string env_of(const EngineStart& start, std::string_view name) {
  for (const EnvVar& variable : start.env) {
    if (variable.name.view() == name) return variable.known ? variable.value.str() : "?";
  }
  return "-";
}

}  // namespace kvbudget
