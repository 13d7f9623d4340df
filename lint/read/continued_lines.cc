#include "lint/read/continued_lines.h"

#include <algorithm>

#include "lint/read/text.h"

namespace kvbudget {

SourceText continued_text(const SourceFile& file, uint32_t& line, size_t column,
                          const Continuation& how) {
  uint32_t from = file.line_start(line) + static_cast<uint32_t>(column);
  SourceText result = SourceText::empty_at(&file, {from, from});
  for (bool first = true; line <= file.line_count(); first = false) {
    const std::string_view whole = file.line_text(line);
    from = file.line_start(line) + static_cast<uint32_t>(first ? column : 0);
    ++line;
    const std::string_view inner = trimmed(whole);
    const bool comment =
        !inner.empty() && how.comments.find(inner.front()) != std::string_view::npos;
    if (!first && comment) continue;
    const std::string_view part = whole.substr(first ? column : 0);
    constexpr std::string_view kBlanks = " \t\r";
    size_t end = part.find_last_not_of(kBlanks) + 1;  // 0 when there is nothing else
    const size_t begin = how.drops_indent ? std::min(part.find_first_not_of(kBlanks), end) : 0;
    const bool continued = end > 0 && part[end - 1] == '\\';
    if (continued) --end;
    const auto at = [&](size_t i) { return from + static_cast<uint32_t>(i); };
    result.append(SourceText(file, {at(begin), at(end)}));
    if (!continued) break;
    result.append_synthetic(how.joint, at(end));
  }
  return result;
}

}  // namespace kvbudget
