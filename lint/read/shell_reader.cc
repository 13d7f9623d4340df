// After POSIX.1-2017, Shell Command Language §2.2 and §2.6, with bash's arrays and `$'…'`.
//
// `${X:-default}` counts as its default when nothing in sight sets X: that is what the file says.
// `$X` alone stays as written and makes the word unknown.

#include "lint/read/shell_reader.h"

#include <algorithm>
#include <string>

#include "lint/read/shell_arithmetic.h"

namespace kvbudget {
namespace {

constexpr int kMaxNesting = 64;
constexpr size_t kMaxAction = 1000;  // bytes of a template action within a word

bool is_digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

bool is_shell_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_shell_word(char c) {
  return is_shell_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' ||
         c == '>' || c == '(' || c == ')' || c == '\0';
}
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

bool holds_expansion(std::string_view text) {
  return text.find_first_of("$`") != std::string_view::npos ||
         text.find("{{") != std::string_view::npos;
}

void ShellReader::skip_blanks() {
  while (!done()) {
    if (is_shell_blank(peek()) || peek() == '\0') {
      advance();
    } else if (peek() == '\\' && peek(1) == '\n') {
      advance(2);
    } else if (peek() == '\\' && peek(1) == '\r' && peek(2) == '\n') {
      advance(3);
    } else {
      return;
    }
  }
}

void ShellReader::skip_line() {
  const size_t end = text_.view().find('\n', pos_);
  pos_ = std::min(end, text_.size());
}

void ShellReader::skip_group(char closer) {
  std::string closers(1, closer);
  for (; !done(); advance()) {
    const char c = peek();
    const char top = closers.back();
    if (c == '\\') {
      advance();
    } else if (c == top) {
      closers.pop_back();
      if (closers.empty()) return advance();
    } else if (c == '$' && (peek(1) == '(' || peek(1) == '{')) {
      advance();
      closers.push_back(peek() == '(' ? ')' : '}');
    } else if (c == '"' || c == '`') {
      closers.push_back(c);
    } else if (top != '"' && c == '\'') {
      const size_t end = text_.view().find('\'', pos_ + 1);
      if (end == std::string_view::npos) continue;
      pos_ = end;
    } else if (top == ')' && c == '(') {
      closers.push_back(')');
    } else if (top == ')' && c == '#' && pos_ > 0 &&
               (is_shell_blank(text_[pos_ - 1]) || text_[pos_ - 1] == '\n')) {
      skip_line();
    }
  }
}

void ShellReader::read_word(std::vector<Word>& out) {
  WordBuilder builder(out, text_.file(), text_.offset(pos_));
  word(builder, /*splits=*/true, /*in_operand=*/false);
  builder.split();
}

Word ShellReader::read_value() {
  std::vector<Word> words;
  WordBuilder builder(words, text_.file(), text_.offset(pos_));
  builder.keep();
  word(builder, /*splits=*/false, /*in_operand=*/false);
  builder.split();
  return std::move(words.front());
}

void ShellReader::word(WordBuilder& builder, bool splits, bool in_operand) {
  while (!done()) {
    const char c = peek();
    if (in_operand ? c == '}' : ends_shell_word(c)) return;
    if (c == '\\') {
      const bool crlf = peek(1) == '\r' && peek(2) == '\n';
      if (peek(1) != '\n' && !crlf && pos_ + 1 < text_.size()) {
        builder.add(peek(1), text_.offset(pos_ + 1));
      }
      advance(crlf ? 3 : 2);
    } else if (c == '\'') {
      single_quoted(builder);
    } else if (c == '"') {
      double_quoted(builder);
    } else if (c == '`') {
      backquoted(builder);
    } else if (c == '$' && peek(1) == '\'') {
      ansi_quoted(builder);
    } else if (c == '$') {
      dollar(builder, splits);
    } else if (c == '{' && template_action(builder)) {
      continue;
    } else if (in_operand && splits && (is_shell_blank(c) || c == '\n')) {
      builder.split();
      advance();
    } else {
      builder.add(c, text_.offset(pos_));
      advance();
    }
  }
}

void ShellReader::single_quoted(WordBuilder& builder) {
  builder.keep();
  size_t end = text_.view().find('\'', pos_ + 1);
  end = std::min(end, text_.size());
  const SourceText inner = text_.substr(pos_ + 1, end - pos_ - 1);
  if (inner.view().find("{{") != std::string_view::npos) builder.set_unknown();
  builder.add(inner);
  pos_ = std::min(end + 1, text_.size());
}

void ShellReader::ansi_quoted(WordBuilder& builder) {
  builder.keep();
  for (advance(2); !done() && peek() != '\''; advance()) {
    if (peek() != '\\') {
      builder.add(peek(), text_.offset(pos_));
      continue;
    }
    advance();
    const size_t known = std::string_view("nrt").find(peek());
    builder.add(known == std::string_view::npos ? peek() : "\n\r\t"[known], text_.offset(pos_));
  }
  advance();
}

void ShellReader::double_quoted(WordBuilder& builder) {
  vanishes_ = false;
  advance();
  while (!done() && peek() != '"') {
    const char c = peek();
    if (c == '\\' && peek(1) == '\n') {
      advance(2);
    } else if (c == '\\' && std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos) {
      builder.add(peek(1), text_.offset(pos_ + 1));
      advance(2);
    } else if (c == '$') {
      dollar(builder, /*splits=*/false);
    } else if (c == '`') {
      backquoted(builder);
    } else if (c != '{' || !template_action(builder)) {
      builder.add(c, text_.offset(pos_));
      advance();
    }
  }
  advance();
  if (!vanishes_) builder.keep();
  vanishes_ = false;
}

bool ShellReader::template_action(WordBuilder& builder) {
  if (peek(1) != '{') return false;
  const std::string_view rest = text_.view().substr(pos_, kMaxAction);
  const size_t end = rest.substr(0, rest.find('\n')).find("}}");
  if (end == std::string_view::npos) return false;
  add_raw(pos_, pos_ + end + 2, builder);
  pos_ += end + 2;
  return true;
}

void ShellReader::backquoted(WordBuilder& builder) {
  const size_t start = pos_;
  advance();
  skip_group('`');
  add_raw(start, std::min(pos_, text_.size()), builder);
}

void ShellReader::dollar(WordBuilder& builder, bool splits) {
  const size_t start = pos_;
  advance();
  const char c = peek();
  if (c == '(') {
    advance();
    skip_group(')');
    if (!arithmetic(start, builder)) add_raw(start, std::min(pos_, text_.size()), builder);
  } else if (c == '{') {
    advance();
    braced(builder, splits);
  } else if (c == '"' && splits) {
    return;  // $"…" is a quoted text that may be translated
  } else if (is_name_start(c)) {
    const size_t begin = pos_;
    while (is_name_char(peek())) advance();
    value_of(text_.view().substr(begin, pos_ - begin), /*all=*/false, splits, start, builder);
  } else if (c != '\0' &&
             (is_digit(c) || std::string_view("@*#?$!-").find(c) != std::string_view::npos)) {
    advance();
    value_of(text_.view().substr(pos_ - 1, 1), c == '@' || c == '*', splits, start, builder);
  } else {
    builder.add('$', text_.offset(start));
  }
}

/// The group from `start` on is `$((…))` of known numbers: the result stands where it begins.
bool ShellReader::arithmetic(size_t start, WordBuilder& builder) const {
  const std::string_view group = text_.view().substr(start, pos_ - start);
  if (group.size() < 5 || !group.starts_with("$((") || !group.ends_with("))")) return false;
  const auto value = evaluate_arithmetic(group.substr(3, group.size() - 5), scope_);
  if (!value) return false;
  for (const char digit : std::to_string(*value)) builder.add(digit, text_.offset(start));
  return true;
}

/// Behind `${`.
void ShellReader::braced(WordBuilder& builder, bool splits) {
  const size_t start = pos_ - 2;
  const size_t name_begin = pos_;
  while (is_name_char(peek())) advance();
  if (pos_ == name_begin && (peek() == '@' || peek() == '*')) advance();
  const std::string_view name = text_.view().substr(name_begin, pos_ - name_begin);
  bool all = name == "@" || name == "*";
  bool plain = !name.empty();
  if (plain && peek() == '[') {
    all = (peek(1) == '@' || peek(1) == '*') && peek(2) == ']';
    plain = all;
    if (all) advance(3);
  }
  if (plain && peek() == '}') {
    advance();
    return value_of(name, all, splits, start, builder);
  }
  const bool colon = peek() == ':';
  const char op = peek(colon ? 1 : 0);
  if (!plain || op == '\0' || std::string_view("-=+?").find(op) == std::string_view::npos ||
      depth_ >= kMaxNesting) {
    skip_group('}');
    return add_raw(start, std::min(pos_, text_.size()), builder);
  }
  advance(colon ? 2 : 1);
  const ShellValue* value = scope_.find(name);
  const bool unknown = value != nullptr && !value->known;
  const bool empty = value != nullptr && !unknown &&
                     std::all_of(value->words.begin(), value->words.end(),
                                 [](const Word& item) { return item.text.empty(); });
  const bool present = value != nullptr && !(colon && empty);
  if (unknown) {
    skip_group('}');
    return add_raw(start, std::min(pos_, text_.size()), builder);
  }
  ++depth_;
  operand(builder, splits, name, op, value, present, start);
  --depth_;
}

/// Behind the operator of `${NAME:-word}`.
void ShellReader::operand(WordBuilder& builder, bool splits, std::string_view name, char op,
                          const ShellValue* value, bool present, size_t start) {
  const bool takes_word = op == '+' ? present : op != '?' && !present;
  if (!takes_word) {
    skip_group('}');
    if (present && op != '+') return add_words(value->words, value->array, splits, builder);
    if (op == '?') add_raw(start, std::min(pos_, text_.size()), builder);
    return;
  }
  std::vector<Word> words;
  WordBuilder inner(words, text_.file(), text_.offset(pos_));
  word(inner, splits, /*in_operand=*/true);
  inner.split();
  advance();
  add_words(words, splits, /*splits=*/false, builder);
  if (op == '=') {
    ShellValue assigned;
    assigned.words = words;
    if (words.size() != 1) assigned.known = words.empty();
    const SourceText name_text = text_.substr(start + 2, name.size());
    if (words.empty()) assigned.words.push_back({SourceText::empty_at(text_.file(), {}), true});
    scope_.assign(name_text, std::move(assigned));
  }
}

void ShellReader::value_of(std::string_view name, bool all, bool splits, size_t start,
                           WordBuilder& builder) {
  const bool every_argument = name == "@" || name == "*";
  const bool argument = every_argument || (!name.empty() && is_digit(name[0]));
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
  if (!value->array || all) return add_words(value->words, value->array, splits, builder);
  if (!value->words.empty()) add_words({value->words.front()}, false, splits, builder);
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
  for (size_t i = 0; i < text.size();) {
    if (!whole && (is_shell_blank(text[i]) || text[i] == '\n')) {
      builder.split();
      ++i;
      continue;
    }
    size_t end = whole ? text.size() : text.find_first_of(" \t\r\n", i);
    end = std::min(end, text.size());
    if (!value.known && (whole || holds_expansion(text.substr(i, end - i)))) builder.set_unknown();
    builder.add(value.text.substr(i, end - i));
    i = end;
  }
}

void ShellReader::add_raw(size_t begin, size_t end, WordBuilder& builder) {
  builder.add(text_.substr(begin, end - begin));
  builder.set_unknown();
}

}  // namespace kvbudget
