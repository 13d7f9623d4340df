// Which GPUs a cloud's machine type has (lint/engine/data/instances.tsv).
#include <charconv>
#include <unordered_map>

#include "lint/engine/gpus.h"
#include "lint/engine/table.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

using InstanceTypes = std::unordered_map<std::string, InstanceType>;

InstanceTypes load() {
  InstanceTypes types;
  for (const TableRow& row : read_engine_table("instances.tsv", 3)) {
    uint32_t count = 0;
    std::from_chars(row[1].data(), row[1].data() + row[1].size(), count);
    for (const std::string_view name : split(row[2], ' ')) {
      types[lower(name)] = {std::string(name), std::string(row[0]), count};
    }
  }
  return types;
}

}  // namespace

std::optional<InstanceType> find_instance_type(std::string_view name) {
  static const InstanceTypes types = load();
  const std::string key = lower(name);
  // Azure's own tools leave its first word away.
  for (const std::string& spelling : {key, "standard_" + key}) {
    if (const auto found = types.find(spelling); found != types.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace kvbudget
