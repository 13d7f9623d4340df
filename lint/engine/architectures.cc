#include "lint/engine/architectures.h"

#include <algorithm>

#include "lint/engine/table.h"

namespace kvbudget {

bool Architecture::has(std::string_view flag) const {
  const std::vector<std::string_view> all = split(flags, ',');
  return std::find(all.begin(), all.end(), flag) != all.end();
}

std::span<const Architecture> all_architectures() {
  static const std::vector<Architecture> architectures = [] {
    std::vector<Architecture> parsed;
    for (const TableRow& row : read_engine_table("architectures.tsv", 5)) {
      parsed.push_back({row[0], row[1], parse_version(row[2]), parse_version(row[3]), row[4]});
    }
    return parsed;
  }();
  return architectures;
}

const Architecture* find_architecture(std::string_view name) {
  const std::span<const Architecture> all = all_architectures();
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const Architecture& entry, std::string_view text) { return entry.name < text; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

bool architecture_exists(const Architecture& architecture, Version version) {
  return (!architecture.since || *architecture.since <= version) &&
         (!architecture.removed || version < *architecture.removed);
}

}  // namespace kvbudget
