// What the value of a variable adds to a word: field splitting (POSIX.1-2017, Shell Command
// Language §2.6.5), and which parts of it are known.

#include <algorithm>
#include <string>

#include "lint/read/shell_reader.h"

namespace kvbudget {

void ShellReader::value_of(std::string_view name, bool all, bool splits, size_t start,
                           WordBuilder& builder) {
  const bool every_argument = name == "@" || name == "*";
  const bool argument = every_argument || (!name.empty() && name[0] >= '0' && name[0] <= '9');
  if (argument && scope_.positional) {
    const std::vector<Word>& words = *scope_.positional;
    if (every_argument) {
      const auto first = words.begin() + (words.empty() ? 0 : 1);
      return add_words({first, words.end()}, name == "@" || splits, splits, builder);
    }
    const size_t index = name.size() == 1 ? static_cast<size_t>(name[0] - '0') : words.size();
    if (index < words.size()) return add_words({words[index]}, false, splits, builder);
  }
  const ShellValue* value = argument ? nullptr : scope_.find(name);
  uint64_t bytes = 0;
  if (value != nullptr) {
    for (const Word& item : value->words) bytes += item.text.size() + 1;
  }
  if (value == nullptr || !value->known || !scope_.spend(bytes)) {
    return add_raw(start, pos_, builder);
  }
  expand(*value, all, splits, start, builder);
}

void ShellReader::expand(const ShellValue& value, bool all, bool splits, size_t start,
                         WordBuilder& builder) {
  if (value.array) {
    if (all) return add_words(value.words, true, splits, builder);
    if (!value.words.empty()) add_words({value.words.front()}, false, splits, builder);
    return;
  }
  const bool certain = std::all_of(value.words.begin(), value.words.end(), [](const Word& piece) {
    return piece.known || holds_expansion(piece.text.view());
  });
  // Flags that may be there are words of their own or nothing that could be told apart.
  if (!splits && !certain) return add_raw(start, pos_, builder);
  for (const Word& piece : value.words) {
    if (!piece.text.empty()) add_words({piece}, false, splits, builder);
  }
}

/// `separate`: each of `words` is a word of its own, as in "${ARRAY[@]}".
void ShellReader::add_words(const std::vector<Word>& words, bool separate, bool splits,
                            WordBuilder& builder) {
  if (separate && words.empty()) vanishes_ = true;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && separate) builder.split();
    if (i > 0 && !separate) builder.add(' ', words[i].text.offset(0));
    if (splits) {
      add_split(words[i], builder);
      continue;
    }
    if (!words[i].known) builder.set_unknown();
    if (separate || !words[i].text.empty()) builder.add(words[i].text);
  }
}

void ShellReader::add_split(const Word& value, WordBuilder& builder) {
  const std::string_view text = value.text.view();
  // The blanks of an unresolved `$(…)` are not ours to split at.
  const bool whole = !value.known && (text.find("$(") != std::string_view::npos ||
                                      text.find('`') != std::string_view::npos);
  const bool partly = holds_expansion(text);  // otherwise all of it may be missing
  for (size_t i = 0; i < text.size();) {
    if (!whole && (is_shell_blank(text[i]) || text[i] == '\n')) {
      builder.split();
      ++i;
      continue;
    }
    size_t end = whole ? text.size() : text.find_first_of(" \t\r\n", i);
    end = std::min(end, text.size());
    if (!value.known && (whole || !partly || holds_expansion(text.substr(i, end - i)))) {
      builder.set_unknown();
    }
    builder.add(value.text.substr(i, end - i));
    i = end;
  }
}

void ShellReader::add_raw(size_t begin, size_t end, WordBuilder& builder) {
  builder.add(text_.substr(begin, end - begin));
  builder.set_unknown();
}

}  // namespace kvbudget
