// Comments that silence findings:
//
//     # kvbudget: ignore KVB103, KVB210 -- measured on this very card
//
// Behind text, a comment stands for its own line; on a line of its own, for the next line that is
// not a comment, together with the lines that a trailing backslash joins to it (nothing can stand
// between those). Read from the bytes alone, so it works the same in YAML and shell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/diagnostic.h"

namespace kvbudget {

/// One rule silenced on the lines [first_line, last_line], or for a deployment.
struct Suppression {
  std::string rule;  ///< id or name, as written
  uint32_t first_line = 0;
  uint32_t last_line = 0;
  int deployment = -1;  ///< of an annotation: index; its lines count for nothing
  Location where;       ///< the rule's name in the comment
  bool has_reason = false;
  bool used = false;  ///< it hid something
};

std::vector<Suppression> read_suppressions(const SourceFile& file);

/// Those of an annotation `kvbudget.io/ignore: "KVB103: reason; KVB210: reason"`.
std::vector<Suppression> read_annotation(const SourceText& text, int deployment);

/// Removes the findings that comments and annotations silence, and marks those as used.
void suppress(std::vector<Diagnostic>& findings, std::vector<Suppression>& suppressions);

}  // namespace kvbudget
