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

/// How an option takes its value.
enum class FlagForm {
  kValue,          ///< one word or `=value`
  kSwitch,         ///< no value and no negative form
  kTwoWay,         ///< no value; `--no-x` turns it off
  kBoolValue,      ///< true, false or nothing
  kOptionalValue,  ///< one word or nothing
  kWords,          ///< all words up to the next option
  kRepeat,         ///< one word; repeating the option adds to the list
};

struct FlagKind {
  FlagType type = FlagType::kString;
  FlagForm form = FlagForm::kValue;
  bool nullable = false;  ///< the texts "None" and "" mean that nothing is set
  bool is_switch() const { return form == FlagForm::kSwitch || form == FlagForm::kTwoWay; }
  bool is_json() const { return type == FlagType::kJson || type == FlagType::kJsonOrString; }
};

/// Another spelling, with its dashes ("-tp"), in the releases [since, removed).
struct FlagAlias {
  std::string text;
  std::optional<Version> since;
  std::optional<Version> removed;
};

/// One option over its life. Names carry no leading dashes.
struct Flag {
  std::string name;  ///< "max-model-len"
  std::vector<FlagAlias> aliases;
  std::string opposite;               ///< the name that turns a two-way switch off, from 0.33 on
  FlagType type = FlagType::kString;  ///< in the last release that has the flag
  bool negatable = false;             ///< `--no-x` exists in the last release that has the flag
  std::optional<Version> since;       ///< first release with it
  std::optional<Version> removed;     ///< first release without it
  std::string replacement;  ///< what to use instead; may carry a value ("mm-processor-cache-gb 0")
  bool api_server_only = false;
  bool batch_only = false;
  std::optional<Version> serve_only_until;  ///< before that release only `vllm serve` has it
  /// Cells of the table with their history (table.h); read them with the functions below.
  std::string_view kinds;
  std::string_view defaults;
  std::string_view choices;
};

/// Every option that any release knew.
std::span<const Flag> all_flags();
/// Exact name or alias (without dashes for long names; underscores count as dashes).
const Flag* find_flag(std::string_view name);
bool flag_exists(const Flag& flag, Version version);
/// Type and form in `version`; of the nearest release for versions that do not have the flag.
FlagKind flag_kind(const Flag& flag, Version version);
/// What the parser yields when the flag is not given, as JSON text; empty when that is null or a
/// switch that is off ("computed later" is null too, see resolve.h).
std::string_view flag_default(const Flag& flag, Version version);
/// The only values that the parser accepts; empty when it accepts any.
std::vector<std::string_view> flag_choices(const Flag& flag, Version version);
/// Why the parser refuses `value` ("not an integer"); empty when it takes it.
std::string value_problem(const Flag& flag, Version version, std::string_view value);
/// The flag that `no-x` would turn off, where that version has x and no such form; else null.
const Flag* flag_without_negative(std::string_view name, Version version);
/// The flag of that version which `name` was probably meant to be: another server's name for it
/// (data/other_servers.tsv), or one near enough to be a typo.
std::string nearest_flag(std::string_view name, Version version);

/// Newest release that the data covers.
Version newest_version();

}  // namespace kvbudget
