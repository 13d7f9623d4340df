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

/// A word that this version's parser would refuse.
struct UnknownFlag {
  std::string name;  ///< without dashes, as dashes: "swap-space"
  std::string text;  ///< as written
  Location where;
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
  const std::map<std::string, Setting, std::less<>>& all() const { return values_; }

  std::vector<UnknownFlag> unknown_flags;
  std::optional<Located<std::string>>
      model;                ///< positional, --model or `model:`; absent when not said
  bool model_known = true;  ///< false: said, but by a template or variable

 private:
  std::map<std::string, Setting, std::less<>> values_;
};

/// Applies vLLM's argument rules of `version` to a start: prefixes, `=`, underscores, aliases,
/// `--no-x`, repeated flags, dotted keys, the keys of a config file. `config_file` is the parsed
/// file of `--config FILE`, null if there is none or it could not be read. Environment variables
/// that act as settings are included.
Settings read_settings(const EngineStart& start, Version version, const Node* config_file);

/// The argument of `--config FILE`, so that the caller can read the file first; empty when absent
/// or unknown.
std::string config_file_of(const EngineStart& start);

}  // namespace kvbudget
