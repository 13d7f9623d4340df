// Which branch of an `if` is taken is not known, so both stay. Offsets must not move: every
// position that is reported later is one of this text.

#include "lint/read/yaml_template.h"

#include <algorithm>
#include <vector>

namespace kvbudget {
namespace {

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

/// End of the Go or Jinja action that opens at `i`, npos when it is never closed. Strings inside
/// may hold the closing mark.
size_t action_end(std::string_view text, size_t i) {
  const char closing = text[i + 1] == '{' ? '}' : text[i + 1];
  const bool comment = closing == '#' || text.substr(i + 2, 3).find("/*") != std::string_view::npos;
  char quote = '\0';
  for (size_t k = i + 2; k + 1 < text.size(); ++k) {
    const char c = text[k];
    if (quote != '\0') {
      if (c == '\\' && quote != '`') {
        ++k;
      } else if (c == quote || c == '\n') {
        quote = '\0';  // a quote that the line does not close was an apostrophe
      }
    } else if (!comment && (c == '"' || c == '`' || c == '\'')) {
      quote = c;
    } else if (c == closing && text[k + 1] == '}') {
      return k + 2;
    }
  }
  return std::string_view::npos;
}

bool opens_action(std::string_view text, size_t i) {
  if (text[i] != '{' || i + 1 >= text.size()) return false;
  const char next = text[i + 1];
  if (next == '{' || next == '%') return true;
  return next == '#' && (i == 0 || text[i - 1] != '$');  // not the shell's ${#name}
}

std::vector<Span> find_actions(std::string_view text) {
  std::vector<Span> spans;
  size_t failed_from = std::string_view::npos;  // from here on nothing closes any more
  for (size_t i = text.find('{'); i < text.size(); i = text.find('{', i)) {
    if (i >= failed_from || !opens_action(text, i)) {
      ++i;
      continue;
    }
    const size_t end = action_end(text, i);
    if (end == std::string_view::npos) {
      failed_from = i;
      continue;
    }
    spans.push_back({i, end});
    i = end;
  }
  return spans;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Blanks the text in [begin, end) but keeps its line breaks.
void blank_out(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace

bool has_template_action(std::string_view text) {
  return text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos;
}

std::string neutralise_templates(std::string_view text) {
  std::string result(text);
  if (!has_template_action(text)) return result;
  const std::vector<Span> spans = find_actions(text);
  for (size_t first = 0; first < spans.size();) {
    // Spans that share lines are judged together: either nothing else stands in these lines or all
    // of them are part of a value.
    const size_t begin_line = text.rfind('\n', spans[first].begin) + 1;
    size_t last = first;
    size_t end_line = text.find('\n', spans[first].end);
    while (last + 1 < spans.size() && spans[last + 1].begin < end_line) {
      ++last;
      if (spans[last].end > end_line) end_line = text.find('\n', spans[last].end);
    }
    end_line = std::min(end_line, text.size());
    bool alone = true;
    size_t from = begin_line;
    for (size_t k = first; k <= last; ++k) {
      alone = alone &&
              std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                          text.begin() + static_cast<std::ptrdiff_t>(spans[k].begin), is_blank);
      from = spans[k].end;
    }
    alone = alone && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                                 text.begin() + static_cast<std::ptrdiff_t>(end_line), is_blank);
    for (size_t k = first; k <= last; ++k) {
      if (alone) {
        blank_out(result, spans[k].begin, spans[k].end);
      } else {
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(spans[k].begin),
                  result.begin() + static_cast<std::ptrdiff_t>(spans[k].end), 'x');
      }
    }
    first = last + 1;
  }
  return result;
}

}  // namespace kvbudget
