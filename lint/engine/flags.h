// The options of `vllm serve`, per version. The facts are data (lint/engine/data/flags.tsv), read
// off the released parsers of vLLM 0.2 to 0.33.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/engine/version.h"

namespace kvbudget {

enum class FlagType {
  kBool,
  kInt,
  kFloat,
  kString,
  kEnum,
  kList,
  kJson,
  kJsonOrString,
  kKeyValueList,
  kHumanInt,
  kHumanIntAuto
};

/// One option over its life. Names carry no leading dashes.
struct Flag {
  std::string name;                  ///< "max-model-len"
  std::vector<std::string> aliases;  ///< other spellings, with their dashes: "-tp"
  FlagType type = FlagType::kString;
  bool negatable = false;          ///< `--no-x` exists in the last release that has the flag
  std::optional<Version> since;    ///< first release with it
  std::optional<Version> removed;  ///< first release without it
  std::string replacement;  ///< what to use instead; may carry a value ("mm-processor-cache-gb 0")
};

/// Every option that any release knew.
std::span<const Flag> all_flags();
/// Exact name or alias (without dashes for long names; underscores count as dashes).
const Flag* find_flag(std::string_view name);
bool flag_exists(const Flag& flag, Version version);
/// The known name nearest to `name` in that version, if one is near enough to be a typo.
std::string nearest_flag(std::string_view name, Version version);

/// Oldest and newest release that the data covers.
Version oldest_version();
Version newest_version();

}  // namespace kvbudget
