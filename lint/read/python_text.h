// Where things end in Python's text.
#pragma once

#include <cstddef>
#include <string_view>

namespace kvbudget {

bool is_python_blank(char c);

/// Behind the string literal whose quote is at `i`; the end of its line if it is not closed.
size_t skip_python_string(std::string_view text, size_t i);

/// Behind blanks, line breaks and comments.
size_t skip_python_blanks(std::string_view text, size_t i);

/// Where the expression at `i` ends: at a comma or a bracket that closes around it.
size_t python_expression_end(std::string_view text, size_t i);

}  // namespace kvbudget
