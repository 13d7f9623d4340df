// The environment variables of vLLM, per version (data/envs.tsv).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lint/engine/version.h"

namespace kvbudget {

struct EnvVariable {
  std::string_view name;
  std::optional<Version> since;
  std::optional<Version> removed;  ///< first release that does not read it
  std::string_view defaults;       ///< cell with history, see table.h
};

std::span<const EnvVariable> all_envs();  // sorted by name
const EnvVariable* find_env(std::string_view name);
bool env_exists(std::string_view name, Version version);
/// JSON text of the value when the variable is not set; empty when that is null or computed.
std::string_view env_default(const EnvVariable& variable, Version version);

}  // namespace kvbudget
