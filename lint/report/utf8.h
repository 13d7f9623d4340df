// UTF-8 as RFC 3629 has it. Files, paths and messages may hold any bytes; formats that other
// programs read may not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvbudget {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the sequence that `text` begins with; 0 when it begins with none, or is empty.
size_t utf8_sequence(std::string_view text);

/// `text` with U+FFFD in place of each byte that belongs to no sequence.
std::string valid_utf8(std::string_view text);

/// Valid UTF-8 of at most `code_points`, the last of them "…" where something was cut off.
std::string shortened(std::string_view text, size_t code_points);

}  // namespace kvbudget
