// Lines that a backslash at their end joins, as Dockerfiles and systemd units have them.
#pragma once

#include <cstdint>
#include <string_view>

#include "lint/read/source.h"

namespace kvbudget {

struct Continuation {
  std::string_view joint;     ///< stands for backslash and line break
  std::string_view comments;  ///< lines that begin with one of these vanish between joined ones
  bool drops_indent;          ///< blanks at the start of each part
};

/// The text from `column` (0-based, bytes) of line `line` on, parts without blanks at their ends;
/// `line` ends up behind the last line that belongs to it.
SourceText continued_text(const SourceFile& file, uint32_t& line, size_t column,
                          const Continuation& how);

}  // namespace kvbudget
