// Tab-separated tables compiled into the program (lint/engine/data), and cells with a history.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lint/engine/version.h"

namespace kvbudget {

using TableRow = std::vector<std::string_view>;

/// Rows of a table: lines that are neither empty nor comments, cut at tabs and filled up to
/// `columns`. The cell "-" is empty.
std::vector<TableRow> read_table(std::string_view text, size_t columns);

/// The table of the engine's own data with that file name.
std::vector<TableRow> read_engine_table(std::string_view file_name, size_t columns);

/// Pieces of `text` between `separator`, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

/// One value of a cell with a history: "value" or "value@release".
struct DatedValue {
  std::string_view value;
  std::optional<Version> since;
};
std::vector<DatedValue> read_history(std::string_view cell);

/// The value that holds in `version` ("a b@0.9" is "a" in 0.8 and "b" from 0.9.0 on); empty for an
/// empty cell.
std::string_view value_at(std::string_view cell, Version version);

}  // namespace kvbudget
