// Which branch of an `if` is taken is not known, so both stay. Offsets must not move: every
// position that is reported later is one of this text.

#include "lint/read/yaml_template.h"

#include <algorithm>
#include <array>
#include <span>

namespace kvbudget {
namespace {

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

bool is_blank_char(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_blank_char);
}

/// True when the lines [begin, end) hold nothing beside these actions.
bool hold_only_actions(std::string_view text, size_t begin, size_t end,
                       std::span<const ByteRange> actions) {
  for (const ByteRange& action : actions) {
    if (!is_blank(text.substr(begin, action.begin - begin))) return false;
    begin = action.end;
  }
  return is_blank(text.substr(begin, end - begin));
}

/// Blanks an action but keeps its line breaks.
void blank_out(std::string& text, const ByteRange& range) {
  for (size_t i = range.begin; i < range.end; ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace

bool has_template_action(std::string_view text) {
  return text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos;
}

std::string_view action_keyword(std::string_view action) {
  action.remove_prefix(std::min<size_t>(2, action.size()));
  const size_t begin = action.find_first_not_of("-+ \t\r\n");
  if (begin == std::string_view::npos) return {};
  action.remove_prefix(begin);
  return action.substr(0, action.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

bool is_control_action(std::string_view action) {
  static constexpr std::array<std::string_view, 8> kKeywords = {"if",    "else", "end",    "with",
                                                                "range", "for",  "define", "block"};
  if (action.starts_with("{%") || action.starts_with("{#")) return true;
  if (action.size() > 2 && action.substr(2, 4).find("/*") != std::string_view::npos) return true;
  const std::string_view word = action_keyword(action);
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

std::vector<ByteRange> template_actions(std::string_view text) {
  std::vector<ByteRange> actions;
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
    actions.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(end)});
    i = end;
  }
  return actions;
}

std::string neutralise_templates(std::string_view text) {
  std::string result(text);
  if (!has_template_action(text)) return result;
  const std::vector<ByteRange> actions = template_actions(text);
  for (size_t first = 0; first < actions.size();) {
    // Actions that share lines are judged together: either nothing else stands in these lines or
    // all of them are part of a value.
    const size_t begin_line = text.rfind('\n', actions[first].begin) + 1;
    size_t last = first;
    size_t end_line = text.find('\n', actions[first].end);
    while (last + 1 < actions.size() && actions[last + 1].begin < end_line) {
      ++last;
      if (actions[last].end > end_line) end_line = text.find('\n', actions[last].end);
    }
    const std::span<const ByteRange> group(&actions[first], last + 1 - first);
    const bool alone = hold_only_actions(text, begin_line, std::min(end_line, text.size()), group);
    for (const ByteRange& action : group) {
      if (alone) {
        blank_out(result, action);
      } else {
        std::fill(result.begin() + action.begin, result.begin() + action.end, 'x');
      }
    }
    first = last + 1;
  }
  return result;
}

}  // namespace kvbudget
