#include "lint/engine/table.h"

#include <algorithm>
#include <span>

#include "cmake/embedded.h"

namespace kvbudget::embedded {
extern const std::span<const File> engine_data;
}

namespace kvbudget {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

std::vector<TableRow> read_table(std::string_view text, size_t columns) {
  std::vector<TableRow> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.front() == '#') continue;
    TableRow row;
    row.reserve(columns);
    for (const std::string_view cell : split(line, '\t')) {
      row.push_back(cell == "-" ? std::string_view() : cell);
    }
    row.resize(columns);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<TableRow> read_engine_table(std::string_view file_name, size_t columns) {
  for (const embedded::File& file : embedded::engine_data) {
    if (file.name == file_name) return read_table(file.text, columns);
  }
  return {};
}

std::vector<DatedValue> read_history(std::string_view cell) {
  std::vector<DatedValue> values;
  for (const std::string_view piece : split(cell, ' ')) {
    const size_t at = piece.rfind('@');
    if (at == std::string_view::npos) {
      values.push_back({piece, std::nullopt});
    } else {
      values.push_back({piece.substr(0, at), parse_version(piece.substr(at + 1))});
    }
  }
  return values;
}

std::string_view value_at(std::string_view cell, Version version) {
  std::string_view value;
  for (const DatedValue& entry : read_history(cell)) {
    if (!entry.since || *entry.since <= version) value = entry.value;
  }
  return value;
}

}  // namespace kvbudget
