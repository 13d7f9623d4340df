// The line of a file that a finding is about, with a caret under the place.
//
// LLVM's SMDiagnostic prints the same for ASCII, but leaves the caret out when the line holds
// anything else, and prints a line of ten thousand characters whole; config files have both.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "lint/read/source.h"

namespace kvbudget {

/// ANSI escapes, or nothing at all.
struct Palette {
  std::string_view bold, error, warning, info, caret, reset;
};
Palette palette(bool colour);

/// `text` without anything that could move a terminal's cursor or break the line.
std::string printable(std::string_view text);

/// The first line of `where`, the caret with its range, and `replacement` below it when that is not
/// empty. Prints nothing for a place without text.
void write_snippet(const Location& where, std::string_view replacement, const Palette& colours,
                   std::ostream& out);

}  // namespace kvbudget
