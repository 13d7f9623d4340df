// After POSIX.1-2017, Shell Command Language §2.2 and §2.6, with bash's arrays and `$'…'`.
//
// `${X:-default}` counts as its default when nothing in sight sets X: that is what the file says.
// `$X` alone stays as written and makes the word unknown.

#include "lint/read/shell_reader.h"

#include <algorithm>
#include <string>

#include "lint/read/shell_arithmetic.h"
#include "lint/read/shell_change.h"
#include "lint/read/text.h"
#include "lint/read/yaml_template.h"

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
    } else if (c == '`') {
      skip_backquotes();
      if (!done()) --pos_;
    } else if (c == '"') {
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

/// Quotes within are the inner shell's business: only an escape hides a backquote.
void ShellReader::skip_backquotes() {
  for (advance(); !done() && peek() != '`'; advance()) {
    if (peek() == '\\') advance();
  }
  advance();
}

bool ShellReader::ends_control_line() const {
  const std::string_view before = text_.view().substr(0, pos_);
  const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::string_view line = trimmed(before.substr(begin));
  const bool any = line.starts_with("{%") || line.starts_with("{{");
  while (!line.empty()) {
    const bool braces = line.starts_with("{{");
    const size_t end = line.find(braces ? "}}" : "%}");
    if ((!braces && !line.starts_with("{%")) || end == std::string_view::npos) return false;
    if (!is_control_action(line.substr(0, end))) return false;
    line = trimmed(line.substr(end + 2));
  }
  return any;
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
  const bool filled = scope_.filled_in && holds_expansion(inner.view());
  if (filled || inner.view().find("{{") != std::string_view::npos) builder.set_unknown();
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
  while (!done() && peek() != '"') quoted_byte("$`\"\\", builder);
  advance();
  if (!vanishes_) builder.keep();
  vanishes_ = false;
}

/// Within double quotes: one byte, escape or expansion.
void ShellReader::quoted_byte(std::string_view escapes, WordBuilder& builder) {
  const char c = peek();
  if (c == '\\' && peek(1) == '\n') {
    advance(2);
  } else if (c == '\\' && escapes.find(peek(1)) != std::string_view::npos) {
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

SourceText ShellReader::read_document() {
  std::vector<Word> words;
  WordBuilder builder(words, text_.file(), text_.offset(pos_));
  builder.keep();
  while (!done()) quoted_byte("$`\\", builder);
  builder.split();
  return std::move(words.front().text);
}

/// `{{ value }}` is text that is not known; `{{ if … }}` and `{% … %}` are no text at all, and what
/// they decide is told by its place (template_branches.h).
bool ShellReader::template_action(WordBuilder& builder) {
  if (peek(1) != '{' && peek(1) != '%') return false;
  const std::string_view rest = text_.view().substr(pos_, kMaxAction);
  const size_t end = rest.substr(0, rest.find('\n')).find(peek(1) == '{' ? "}}" : "%}", 2);
  if (end == std::string_view::npos) return false;
  if (!is_control_action(rest.substr(0, end))) add_raw(pos_, pos_ + end + 2, builder);
  pos_ += end + 2;
  return true;
}

void ShellReader::backquoted(WordBuilder& builder) {
  const size_t start = pos_;
  skip_backquotes();
  if (!holds_comment(start + 1)) add_raw(start, std::min(pos_, text_.size()), builder);
}

/// What was substituted from `begin` on is a remark alone, which leaves nothing: the usual way to
/// write one between joined lines.
bool ShellReader::holds_comment(size_t begin) const {
  const size_t end = std::max(begin, std::min(pos_, text_.size()) - 1);
  std::string_view inner = text_.view().substr(begin, end - begin);
  while (!inner.empty()) {
    const size_t line = std::min(inner.find('\n'), inner.size());
    const std::string_view text = trimmed(inner.substr(0, line));
    if (!text.empty() && text.front() != '#') return false;
    inner.remove_prefix(std::min(line + 1, inner.size()));
  }
  return true;
}

void ShellReader::dollar(WordBuilder& builder, bool splits) {
  const size_t start = pos_;
  advance();
  const char c = peek();
  if (c == '(') {
    advance();
    skip_group(')');
    if (holds_comment(start + 2) || arithmetic(start, builder)) return;
    add_raw(start, std::min(pos_, text_.size()), builder);
  } else if (c == '{' && peek(1) == '{') {  // `${{ … }}`, which a pipeline fills in first
    const size_t end = text_.view().substr(0, start + kMaxAction).find("}}", start);
    pos_ = end == std::string_view::npos ? pos_ + 1 : end + 2;
    add_raw(start, pos_, builder);
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
    return changed(plain && !all ? name : std::string_view(), start, splits, builder);
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

/// Behind the name of `${NAME##pattern}`; an empty name is not one that could be looked up.
void ShellReader::changed(std::string_view name, size_t start, bool splits, WordBuilder& builder) {
  const size_t begin = pos_;
  skip_group('}');
  const std::string_view change = text_.view().substr(begin, pos_ - begin);
  const ShellValue* value = name.empty() ? nullptr : scope_.find(name);
  const bool known = value != nullptr && value->known && value->words.size() == 1 &&
                     value->words[0].known && change.ends_with('}');
  // The pattern is tried at every byte.
  const uint64_t size = known ? value->words[0].text.size() : 0;
  const bool paid = known && scope_.spend(size * size / 16 + 1);
  const auto text =
      paid ? changed_text(value->words[0].text, change.substr(0, change.size() - 1)) : std::nullopt;
  if (!text) {
    return add_raw(start, std::min(pos_, text_.size()), builder);
  }
  add_words({Word{*text, true}}, false, splits, builder);
}

/// Behind the operator of `${NAME:-word}`.
void ShellReader::operand(WordBuilder& builder, bool splits, std::string_view name, char op,
                          const ShellValue* value, bool present, size_t start) {
  const bool takes_word = op == '+' ? present : op != '?' && !present;
  if (!takes_word) {
    skip_group('}');
    if (present && op != '+') return expand(*value, /*all=*/true, splits, start, builder);
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

}  // namespace kvbudget
