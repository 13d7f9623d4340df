// Cells of the tables that are printed for people.
#pragma once

#include <string>
#include <string_view>

namespace kvbudget {

/// `text` and spaces up to `width` columns; a column is a code point, not a byte.
std::string padded(std::string_view text, size_t width);

}  // namespace kvbudget
