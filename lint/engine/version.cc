#include "lint/engine/version.h"

#include <charconv>

namespace kvbudget {

std::string Version::str() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::optional<Version> parse_version(std::string_view text) {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  uint16_t parts[3] = {0, 0, 0};
  size_t count = 0;
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  while (count < 3) {
    const auto [next, error] = std::from_chars(cursor, end, parts[count]);
    if (error != std::errc()) break;
    ++count;
    cursor = next;
    if (cursor == end || *cursor != '.') break;
    if (count < 3) ++cursor;
  }
  // A lone number is a date, a build number or a mistake, never a vLLM version.
  if (count < 2) return std::nullopt;
  // What may follow: ".post1", "-cu129", "+cu128", "_rhai12", "rc1". Digits or letters glued on are
  // something else.
  if (cursor != end && *cursor != '.' && *cursor != '-' && *cursor != '+' && *cursor != '_' &&
      std::string_view(cursor, static_cast<size_t>(end - cursor)).substr(0, 2) != "rc") {
    return std::nullopt;
  }
  return Version{parts[0], parts[1], parts[2]};
}

}  // namespace kvbudget
