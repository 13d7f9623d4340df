#include "lint/engine/gpu_bandwidth.h"

#include <charconv>

#include "lint/engine/table.h"

namespace kvbudget {

std::optional<double> memory_bandwidth(const Gpu& gpu) {
  static const std::vector<TableRow> rows = read_engine_table("gpu_bandwidth.tsv", 3);
  for (const TableRow& row : rows) {
    if (row[0] != gpu.name) continue;
    uint32_t gigabytes = 0;
    std::from_chars(row[1].data(), row[1].data() + row[1].size(), gigabytes);
    return gigabytes * 1e9;
  }
  return std::nullopt;
}

}  // namespace kvbudget
