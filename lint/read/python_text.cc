#include "lint/read/python_text.h"

#include <algorithm>
#include <string>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxExpression = 1 << 16;  // bytes; calls within calls are looked at one by one

size_t line_end(std::string_view text, size_t i) {
  return std::min(text.find('\n', i), text.size());
}

}  // namespace

bool is_python_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t skip_python_string(std::string_view text, size_t i) {
  const bool triple = text.substr(i, 3) == std::string(3, text[i]);
  const std::string quote(triple ? 3 : 1, text[i]);
  for (i += quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i, quote.size()) == quote) {
      return i + quote.size();
    } else if (!triple && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

size_t skip_python_blanks(std::string_view text, size_t i) {
  while (i < text.size() && (is_python_blank(text[i]) || text[i] == '#')) {
    i = text[i] == '#' ? line_end(text, i) : i + 1;
  }
  return i;
}

size_t python_expression_end(std::string_view text, size_t i) {
  text = text.substr(0, i + kMaxExpression);
  for (size_t depth = 0; i < text.size();) {
    const char c = text[i];
    if (is_any_of(c, "\"'")) {
      i = skip_python_string(text, i);
    } else if (c == '#') {
      i = line_end(text, i);
    } else {
      const bool closes = is_any_of(c, ")]}");
      if (depth == 0 && (closes || c == ',')) return i;
      if (is_any_of(c, "([{")) ++depth;
      if (closes) --depth;
      ++i;
    }
  }
  return text.size();
}

}  // namespace kvbudget
