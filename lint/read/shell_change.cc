// After POSIX.1-2017, Parameter Expansion, with bash's change of case.

#include "lint/read/shell_change.h"

#include <string>

#include "lint/read/shell_condition.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxText = 1000;  // the pattern is tried at every byte

SourceText with_case(const SourceText& value, bool to_upper) {
  SourceText result = value.substr(0, 0);
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const bool changes = to_upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
    result.append(changes ? static_cast<char>(c ^ 0x20) : c, value.offset(i));
  }
  return result;
}

SourceText without_prefix(const SourceText& value, std::string_view pattern, bool longest) {
  const std::string_view text = value.view();
  for (size_t i = 0; i <= text.size(); ++i) {
    const size_t count = longest ? text.size() - i : i;
    if (fits_pattern(text.substr(0, count), pattern)) return value.substr(count);
  }
  return value;
}

SourceText without_suffix(const SourceText& value, std::string_view pattern, bool longest) {
  const std::string_view text = value.view();
  for (size_t i = 0; i <= text.size(); ++i) {
    const size_t count = longest ? i : text.size() - i;
    if (fits_pattern(text.substr(count), pattern)) return value.substr(0, count);
  }
  return value;
}

}  // namespace

std::optional<SourceText> changed_text(const SourceText& value, std::string_view change) {
  if (value.size() > kMaxText) return std::nullopt;
  if (change == ",,") return with_case(value, /*to_upper=*/false);
  if (change == "^^") return with_case(value, /*to_upper=*/true);
  if (change.size() < 2 || (change[0] != '#' && change[0] != '%')) return std::nullopt;
  const bool longest = change[1] == change[0];
  const std::string_view pattern = change.substr(longest ? 2 : 1);
  if (pattern.find_first_of("$`'\"\\") != std::string_view::npos) return std::nullopt;
  return change[0] == '#' ? without_prefix(value, pattern, longest)
                          : without_suffix(value, pattern, longest);
}

}  // namespace kvbudget
