// What may be written to a stream besides plain text, by the conventions of the environment:
// NO_COLOR (no-color.org), CLICOLOR and CLICOLOR_FORCE (bixense.com/clicolors), TERM.
#pragma once

#include <functional>

namespace kvbudget {

/// Value of a variable, null when it is not set.
using Environment = std::function<const char*(const char*)>;

/// A terminal that understands escape sequences.
bool takes_escapes(bool is_terminal, const Environment& environment);
/// The same, unless colours are asked for or refused.
bool takes_colour(bool is_terminal, const Environment& environment);

}  // namespace kvbudget
