#include "lint/engine/envs.h"

#include <algorithm>

#include "lint/engine/table.h"

namespace kvbudget {

std::span<const EnvVariable> all_envs() {
  static const std::vector<EnvVariable> variables = [] {
    std::vector<EnvVariable> parsed;
    for (const TableRow& row : read_engine_table("envs.tsv", 4)) {
      parsed.push_back({row[0], parse_version(row[1]), parse_version(row[2]), row[3]});
    }
    return parsed;
  }();
  return variables;
}

const EnvVariable* find_env(std::string_view name) {
  const std::span<const EnvVariable> variables = all_envs();
  const auto found = std::lower_bound(
      variables.begin(), variables.end(), name,
      [](const EnvVariable& variable, std::string_view text) { return variable.name < text; });
  return found != variables.end() && found->name == name ? &*found : nullptr;
}

bool env_exists(std::string_view name, Version version) {
  const EnvVariable* const variable = find_env(name);
  return variable && (!variable->since || *variable->since <= version) &&
         (!variable->removed || version < *variable->removed);
}

std::string_view env_default(const EnvVariable& variable, Version version) {
  const std::string_view value = value_at(variable.defaults, version);
  return value == "null" ? std::string_view() : value;
}

}  // namespace kvbudget
