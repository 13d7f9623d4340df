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

/// Keys of a config: "model=m max-model-len=?${X}"; mappings and lists show as "…".
inline std::string keys_of(const EngineStart& start) {
  std::string result;
  for (const ConfigKey& key : start.config) {
    if (!result.empty()) result += " ";
    const bool scalar = key.value->is_scalar();
    result += key.key.str() + "=" + (key.known ? "" : "?") +
              (scalar                       ? key.value->text.str()
               : key.value->entries.empty() ? ""
                                            : "…");
  }
  return result;
}

/// "L4 x2", "? x2", "L4 x?", with " on 2 nodes" and ", 3 replicas" where the file says so.
inline std::string gpus_of(const EngineStart& start) {
  std::string result = start.gpu.name ? start.gpu.name->value : "?";
  result += " x" + (start.gpu.count ? std::to_string(start.gpu.count->value) : "?");
  if (start.nodes) result += " on " + std::to_string(start.nodes->value) + " nodes";
  if (start.replicas) result += ", " + std::to_string(start.replicas->value) + " replicas";
  return result;
}

}  // namespace kvbudget
