// Words without a shell: how compose reads a command that is one string. It uses go-shellwords,
// where a backslash takes any character literally, in double quotes too.

#include <string_view>

#include "lint/read/shell_reader.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

constexpr std::string_view kEnds = ";&|<>";

/// Reads the quoted part at `i`; gives the index behind it.
size_t quoted_part(const SourceText& text, size_t i, WordBuilder& word) {
  const char quote = text[i++];
  word.keep();
  for (; i < text.size() && text[i] != quote; ++i) {
    if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
    word.add(text[i], text.offset(i));
  }
  return i + 1;
}

}  // namespace

std::vector<Word> split_words(const Word& input) {
  std::vector<Word> words;
  const SourceText& text = input.text;
  WordBuilder word(words, text.file(), text.offset(0));
  for (size_t i = 0; i < text.size() && kEnds.find(text[i]) == std::string_view::npos;) {
    const char c = text[i];
    if (is_shell_blank(c) || c == '\n') {
      word.split();
      ++i;
    } else if (c == '\'' || c == '"') {
      i = quoted_part(text, i, word);
    } else if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\n') word.add(text[i + 1], text.offset(i + 1));
      i += 2;
    } else {
      word.add(c, text.offset(i++));
    }
  }
  word.split();
  if (!input.known) {
    for (Word& item : words) item.known = !holds_expansion(item.text.view());
  }
  return words;
}

std::optional<EnvVar> as_assignment(const Word& word) {
  const std::string_view text = word.text.view();
  size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == 0 || end >= text.size() || text[end] != '=' || !is_name_start(text[0])) {
    return std::nullopt;
  }
  EnvVar variable;
  variable.name = word.text.substr(0, end);
  variable.value = word.text.substr(end + 1);
  variable.known = word.known || !holds_expansion(variable.value.view());
  return variable;
}

}  // namespace kvbudget
