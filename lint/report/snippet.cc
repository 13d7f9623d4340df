#include "lint/report/snippet.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "lint/report/utf8.h"

namespace kvbudget {

namespace {

constexpr size_t kMaxColumns = 200;      // longer lines are shown in part
constexpr size_t kColumnsBefore = 60;    // of the place, when the line is cut
constexpr size_t kMaxReplacement = 120;  // longer texts are no help under a line

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// One column: a code point, or what stands in for bytes that are none. Columns are cut as
// SourceFile::position counts them.
std::string_view shown(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (utf8_sequence(bytes) != bytes.size()) return kReplacementCharacter;
  const bool c1_control = lead == 0xC2 && static_cast<unsigned char>(bytes[1]) < 0xA0;
  if ((lead < 0x20 && lead != '\t') || lead == 0x7F || c1_control) return "?";
  return bytes;
}

std::vector<std::string_view> columns(std::string_view line) {
  std::vector<std::string_view> result;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin + 1;
    while (end < line.size() && is_continuation(line[end])) ++end;
    result.push_back(shown(line.substr(begin, end - begin)));
    begin = end;
  }
  return result;
}

// The half-open range of columns that is printed.
struct Window {
  size_t begin = 0;
  size_t end = 0;
};

Window window_around(size_t caret, size_t line_columns) {
  if (line_columns <= kMaxColumns) return {0, line_columns};
  const size_t begin =
      std::min(caret > kColumnsBefore ? caret - kColumnsBefore : 0, line_columns - kMaxColumns);
  return {begin, begin + kMaxColumns};
}

}  // namespace

Palette palette(bool colour) {
  if (!colour) return {};
  return {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m"};
}

std::string printable(std::string_view text) {
  std::string result;
  for (const std::string_view column : columns(text)) result += column == "\t" ? " " : column;
  return result;
}

void write_snippet(const Location& where, std::string_view replacement, const Palette& colours,
                   std::ostream& out) {
  if (!where) return;
  const Position begin = where.file->position(where.range.begin);
  const Position end = where.file->position(where.range.end);
  const auto line = columns(where.file->line_text(begin.line));
  if (line.empty()) return;
  const size_t caret = std::min<size_t>(begin.column - 1, line.size());
  const Window window = window_around(caret, line.size());
  const size_t range_end =
      std::min<size_t>(end.line == begin.line ? end.column - 1 : line.size(), window.end);

  const std::string_view cut_left = window.begin > 0 ? "…" : "";
  std::string indent(cut_left.empty() ? 0 : 1, ' ');
  out << cut_left;
  for (size_t i = window.begin; i < window.end; ++i) {
    out << line[i];
    if (i < caret) indent += line[i] == "\t" ? '\t' : ' ';
  }
  out << (window.end < line.size() ? "…" : "") << '\n' << indent << colours.caret << '^';
  for (size_t i = caret + 1; i < range_end; ++i) out << '~';
  out << colours.reset << '\n';
  if (replacement.empty() || replacement.size() > kMaxReplacement) return;
  out << indent << colours.caret << printable(replacement) << colours.reset << '\n';
}

}  // namespace kvbudget
