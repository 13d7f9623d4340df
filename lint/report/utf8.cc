#include "lint/report/utf8.h"

#include <algorithm>

namespace kvbudget {

namespace {

/// What may follow a lead byte: how many bytes in all, and the range of the second one, which keeps
/// out overlong forms, surrogates and what lies above U+10FFFF (RFC 3629, section 4).
struct Lead {
  unsigned char first, last;
  unsigned char second_low, second_high;
  size_t bytes;
};

constexpr Lead kLeads[] = {
    {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

bool within(char byte, unsigned char low, unsigned char high) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= low && value <= high;
}

}  // namespace

size_t utf8_sequence(std::string_view text) {
  if (text.empty()) return 0;
  const auto* lead = std::find_if(std::begin(kLeads), std::end(kLeads), [&](const Lead& known) {
    return within(text[0], known.first, known.last);
  });
  if (lead == std::end(kLeads) || text.size() < lead->bytes) return 0;
  if (lead->bytes > 1 && !within(text[1], lead->second_low, lead->second_high)) return 0;
  for (size_t i = 2; i < lead->bytes; ++i) {
    if (!within(text[i], 0x80, 0xBF)) return 0;
  }
  return lead->bytes;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = utf8_sequence(text);
    result += bytes == 0 ? kReplacementCharacter : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

std::string shortened(std::string_view text, size_t code_points) {
  std::string result;
  size_t last_begin = 0;
  for (size_t count = 0; !text.empty(); ++count) {
    if (count == code_points) return result.substr(0, last_begin) + "…";
    last_begin = result.size();
    const size_t bytes = utf8_sequence(text);
    result += bytes == 0 ? kReplacementCharacter : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

}  // namespace kvbudget
