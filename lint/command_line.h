// From the words behind `kvbudget` to Options.
#pragma once

#include <iosfwd>
#include <optional>
#include <vector>

#include "lint/options.h"

namespace kvbudget {

struct CommandLine {
  Options options;
  /// Set when there is nothing to run: help and version were printed, or what is wrong was said.
  std::optional<int> exit_code;
};

CommandLine parse_command_line(const std::vector<const char*>& words, std::ostream& out,
                               std::ostream& err);

}  // namespace kvbudget
