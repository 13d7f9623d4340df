// What an engine start sets, after vLLM's own rules turned words into values; each value knows
// where it came from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/engine/version.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

enum class Origin { kFlag, kConfigFile, kEnvironment, kDefault };
std::string_view origin_name(Origin origin);  // "flag", "config", "env", "default"

struct Setting {
  std::string value;  ///< as written, trimmed; "true"/"false" for switches; JSON stays text
  Location where;     ///< of the value; of the flag itself for switches
  Location key;       ///< of the flag or key
  Origin origin = Origin::kFlag;
  bool known = true;  ///< false: the text holds something that only run time decides
};

/// A flag that this version's parser does not know.
struct UnknownFlag {
  std::string name;  ///< without dashes, as dashes: "swap-space"
  std::string text;  ///< as written
  Location where;
  bool ambiguous = false;         ///< an abbreviation that fits several flags
  bool certain = true;            ///< false: a template or script may leave it out
  std::vector<Location> words{};  ///< the flag and what would have been its values
};

enum class Refusal {
  kSwitchValue,   ///< a value behind a switch
  kMissingValue,  ///< an option that needs one
  kJoinedWords,   ///< one word that holds a flag and its value
  kStrayWord,     ///< a word that no option takes
  kOther
};

/// Another word that stops this version's parser.
struct RefusedWord {
  std::string text;  ///< as written
  Location where;
  std::string problem;  ///< "--enforce-eager takes no value"
  Refusal kind = Refusal::kOther;
  std::string option{};  ///< with its dashes, where one is to blame: "--enforce-eager"
  Origin origin = Origin::kFlag;
  Location key{};  ///< of that option
};

/// A value that another one of the same setting replaces.
struct Overridden {
  std::string name;
  Setting lost;
};

/// A key of a config file that says false and that the engine drops without a word.
struct DroppedKey {
  std::string name;  ///< as written
  Location key;
  Location value;
};

class Settings {
 public:
  /// Value of a setting under vLLM's own name with dashes ("max-model-len"), or null when it is not
  /// set.
  const Setting* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// A switch that is on. `--no-x` sets x to "false".
  bool is_true(std::string_view name) const;
  /// Numbers, with vLLM's suffixes where the flag takes them; nullopt when unset, unknown or no
  /// number.
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< empty when unset or unknown

  void set(const std::string& name, Setting setting) { values_[name] = std::move(setting); }
  /// The same for the last of several values, which the engine takes.
  void replace(const std::string& name, Setting setting);
  void unset(const std::string& name) { values_.erase(name); }
  const std::map<std::string, Setting, std::less<>>& all() const { return values_; }

  /// An environment variable of the engine, or null; `origin` is kEnvironment.
  const Setting* environment(std::string_view name) const;
  /// A variable that vLLM reads as bool(int(text)) and that is on.
  bool environment_is_on(std::string_view name) const;
  void set_environment(const std::string& name, Setting setting) {
    environment_[name] = std::move(setting);
  }

  Version version;  ///< whose rules read these settings
  EngineUse use = EngineUse::kServer;
  bool keyword_arguments = false;  ///< what is from a config file is from Python: nothing parsed it
  std::vector<UnknownFlag> unknown_flags;
  std::vector<RefusedWord> refused_words;
  std::vector<Overridden> overridden;
  std::vector<DroppedKey> dropped_keys;
  /// A word that only run time knows stands where flags go; it may set anything.
  bool opaque_words = false;
  std::optional<Located<std::string>>
      model;                ///< positional, --model or `model:`; absent when not said
  bool model_known = true;  ///< false: said, but by a template or variable

 private:
  std::map<std::string, Setting, std::less<>> values_;
  std::map<std::string, Setting, std::less<>> environment_;
};

/// Applies vLLM's argument rules of `version` to a start: prefixes, `=`, underscores, aliases,
/// `--no-x`, repeated flags, dotted keys, the keys of a config file. `config_file` is the parsed
/// file of `--config FILE`, null if there is none or it could not be read. Environment variables
/// that act as settings are included. `--flag.key value` is stored as "flag.key" and in the JSON
/// text of "flag". Sources: vllm/utils/argparse_utils.py (FlexibleArgumentParser) and Python's
/// argparse.
Settings read_settings(const EngineStart& start, Version version, const Node* config_file);

/// A value that the parser of that version stops at, or that it takes and the engine then refuses.
struct RefusedValue {
  std::string name;  ///< of the setting
  const Setting* setting = nullptr;
  std::string problem;  ///< "not an integer"
};
std::vector<RefusedValue> refused_values(const Settings& settings);

/// The argument of `--config FILE`, so that the caller can read the file first; empty when absent
/// or unknown.
std::string config_file_of(const EngineStart& start);

}  // namespace kvbudget
