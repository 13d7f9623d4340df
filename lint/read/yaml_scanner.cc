#include "lint/read/yaml_scanner.h"

#include <algorithm>
#include <utility>

namespace kvbudget {
namespace {

// Real files hold a few thousand scalars. A million would take seconds in the parser.
constexpr size_t kMaxScalars = 500'000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }
bool is_flow_indicator(char c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

YamlScanner::YamlScanner(const YamlInput& input, uint32_t begin, uint32_t end)
    : work_(input.work.substr(0, end)), base_(begin), pos_(begin), line_start_(begin) {
  result_.mask.assign(end - begin, ' ');
  result_.mask += '\n';  // LLVM wants a blank or break behind every indicator
}

bool YamlScanner::ends_word(size_t i) const { return is_blank(at(i)) || is_break(at(i)); }
bool YamlScanner::at_break() const { return is_break(peek()); }
bool YamlScanner::at_colon() const { return !done() && peek() == ':' && ends_word(pos_ + 1); }
bool YamlScanner::at_indicator() const {
  return (peek() == '-' || peek() == '?' || peek() == ':') && ends_word(pos_ + 1);
}

void YamlScanner::fail(uint32_t offset, std::string message) {
  if (!failed()) result_.problems.push_back({offset, std::move(message)});
}

void YamlScanner::hide(uint32_t begin, uint32_t end) {
  std::fill(result_.mask.begin() + (begin - base_), result_.mask.begin() + (end - base_), 'x');
}

void YamlScanner::add(const ScalarToken& token) {
  hide(token.begin, token.end);
  result_.scalars.push_back(token);
  if (result_.scalars.size() > kMaxScalars) fail(token.begin, "too large to be a deployment");
}

/// Steps over the line break at the position; CR LF counts as one.
void YamlScanner::next_line() {
  if (!done()) {
    if (peek() == '\r' && at(pos_ + 1) == '\n' && pos_ + 1 < work_.size()) ++pos_;
    result_.mask[pos_ - base_] = '\n';
    ++pos_;
  }
  line_start_ = pos_;
}

void YamlScanner::skip_to_break() {
  while (!done() && !is_break(peek())) ++pos_;
}
void YamlScanner::skip_spaces() {
  while (!done() && peek() == ' ') ++pos_;
}
void YamlScanner::skip_blanks() {
  while (!done() && is_blank(peek())) ++pos_;
}

/// A character of a name that LLVM is to see.
void YamlScanner::name(uint32_t i) { result_.mask[i - base_] = is_name(work_[i]) ? work_[i] : 'x'; }

void YamlScanner::property() {
  const bool in_flow = !brackets_.empty();
  const bool anchor = peek() == '&';
  const bool shown = anchor || !in_flow;  // LLVM lets a tag run on over the comma behind it
  if (shown) show(pos_);
  for (++pos_; !ends_word(pos_); ++pos_) {
    if (in_flow && is_flow_indicator(peek())) break;
    if (anchor) name(pos_);
    if (shown && !anchor) result_.mask[pos_ - base_] = 'x';
  }
}

void YamlScanner::alias() {
  const uint32_t begin = pos_;
  show(pos_++);
  while (!ends_word(pos_) && !is_flow_indicator(peek()) && !at_colon()) name(pos_++);
  if (pos_ == begin + 1) fail(begin, "'*' without the name of an anchor");
}

void YamlScanner::quoted() {
  const char quote = peek();
  ScalarToken token;
  token.begin = pos_++;
  token.style = quote == '"' ? Node::Style::kDoubleQuoted : Node::Style::kSingleQuoted;
  for (; !done(); ++pos_) {
    const char c = peek();
    if (c == '\\' && quote == '"') {
      ++pos_;
    } else if (c == quote) {
      if (quote != '\'' || at(pos_ + 1) != '\'') break;
      ++pos_;
    } else if (is_break(c)) {
      line_start_ = pos_ + 1;
    }
  }
  if (done()) return fail(token.begin, "a quoted text has no closing quote");
  token.end = ++pos_;
  add(token);
  result_.mask[token.begin - base_] = quote;
  result_.mask[token.end - 1 - base_] = quote;
}

void YamlScanner::plain(uint32_t min_column) {
  ScalarToken token;
  token.begin = pos_;
  token.end = plain_line();
  if (!at_colon()) plain_continuation(token, min_column);
  add(token);
}

/// Reads to the end of a plain scalar's part in this line; gives the end of its text.
uint32_t YamlScanner::plain_line() {
  uint32_t end = pos_;
  while (!done() && !is_break(peek()) && !at_colon()) {
    const char c = peek();
    if (c == '#' && pos_ > base_ && is_blank(work_[pos_ - 1])) break;
    ++pos_;
    if (!is_blank(c)) end = pos_;
  }
  return end;
}

/// Lines that are indented deeper than the parent belong to the scalar, until a comment ends it.
void YamlScanner::plain_continuation(ScalarToken& token, uint32_t min_column) {
  while (!done() && is_break(peek())) {
    uint32_t next = pos_;
    uint32_t start = pos_;
    uint32_t spaces = 0;  // tabs do not indent
    while (next < work_.size() && (is_break(work_[next]) || is_blank(work_[next]))) {
      if (is_break(work_[next])) {
        start = next + 1;
        spaces = 0;
      } else if (work_[next] == ' ' && spaces == next - start) {
        ++spaces;
      }
      ++next;
    }
    if (next >= work_.size() || spaces < min_column || at(next) == '#') return;
    line_start_ = start;
    pos_ = next;
    token.end = plain_line();
    if (at_colon()) fail(pos_, "a key inside a value of several lines, check the indentation");
  }
}

void YamlScanner::block_scalar(uint32_t min_column) {
  ScalarToken token;
  token.begin = pos_;
  token.style = peek() == '|' ? Node::Style::kLiteral : Node::Style::kFolded;
  const uint32_t given = block_header(token);
  if (failed()) return;
  const uint32_t header_end = pos_;
  skip_blanks();
  if (!done() && !is_break(peek()) && peek() != '#') {
    return fail(pos_, "text behind the header of a block scalar, start it on the next line");
  }
  skip_to_break();
  const uint32_t first_break = pos_;
  if (given != 0) token.indent = given + (min_column == 0 ? 0 : min_column - 1);
  const uint32_t last_text = block_content(token, min_column, given != 0);
  hide(token.begin, last_text == 0 ? header_end : last_text);
  result_.scalars.push_back(token);
  pos_ = last_text == 0 ? first_break : last_text;
}

/// Behind `|` or `>`: chomping and indentation in any order. Gives the indentation, 0 for none.
uint32_t YamlScanner::block_header(ScalarToken& token) {
  uint32_t indent = 0;
  for (++pos_; !ends_word(pos_); ++pos_) {
    const char c = peek();
    if ((c == '+' || c == '-') && token.chomp == ' ') {
      token.chomp = c;
    } else if (c >= '1' && c <= '9' && indent == 0) {
      indent = static_cast<uint32_t>(c - '0');
    } else {
      fail(token.begin,
           std::string("a value cannot start with '") + work_[token.begin] + "', put it in quotes");
      break;
    }
  }
  return indent;
}

/// Sets where the content is; gives the end of its last line that is not blank, 0 when there is
/// none.
uint32_t YamlScanner::block_content(ScalarToken& token, uint32_t min_column, bool indent_known) {
  next_line();
  token.content = pos_;
  uint32_t last_text = 0;
  while (!done()) {
    const uint32_t start = pos_;
    skip_spaces();
    const uint32_t indent = pos_ - start;
    const bool blank = done() || is_break(peek());
    if (!blank && !indent_known && indent >= min_column) {
      token.indent = indent;
      indent_known = true;
    }
    if (!blank && (!indent_known || indent < token.indent)) {
      pos_ = start;
      break;
    }
    skip_to_break();
    if (!blank) last_text = pos_;
    next_line();
  }
  token.end = pos_;
  if (!indent_known) token.indent = token.end - token.content;  // nothing but blanks
  return last_text;
}

void YamlScanner::flow(size_t depth) {
  do {
    if (done()) {
      const uint32_t begin = result_.flow_begins[brackets_.back()];
      return fail(begin, std::string("'") + work_[begin] + "' is never closed");
    }
    flow_item(depth);
  } while (!brackets_.empty() && !failed());
}

void YamlScanner::flow_item(size_t depth) {
  const char c = peek();
  if (is_break(c)) return next_line();
  if (is_blank(c)) return skip_blanks();
  if (c == '#') return skip_to_break();  // a '#' inside a plain scalar does not get here
  const char last = std::exchange(last_, c);
  if (c == '[' || c == '{') return open_bracket(depth);
  if (c == ']' || c == '}') return close_bracket(c);
  if (c == ',' && (last == ',' || last == '[' || last == '{')) {
    return fail(pos_, "no value in front of this comma");
  }
  if (c == ',') return show();
  if (c == ':' && (after_json_key_ || ends_word(pos_ + 1) || is_flow_indicator(at(pos_ + 1)))) {
    after_json_key_ = false;
    return show();
  }
  if ((c == '?' || c == '-') && ends_word(pos_ + 1)) {
    if (c == '?' && last != '?') return show();
    return fail(pos_, "a list or key of block style cannot stand in brackets");
  }
  if (c == '&' || c == '!') return property();
  after_json_key_ = c == '"' || c == '\'';
  if (after_json_key_) return quoted();
  if (c == '*') return alias();
  plain_in_flow();
}

void YamlScanner::open_bracket(size_t depth) {
  after_json_key_ = false;
  brackets_.push_back(result_.flow_begins.size());
  result_.flow_begins.push_back(pos_);
  result_.flow_ends.push_back(pos_ + 1);
  if (brackets_.size() + depth > kMaxDepth) fail(pos_, "nested too deep to be a deployment");
  show();
}

void YamlScanner::close_bracket(char c) {
  const size_t opened = brackets_.back();
  const char open = work_[result_.flow_begins[opened]];
  if ((c == ']') != (open == '[')) {
    return fail(pos_, std::string("'") + open + "' is closed by '" + c + "'");
  }
  show();
  result_.flow_ends[opened] = pos_;
  brackets_.pop_back();
  after_json_key_ = true;
}

void YamlScanner::plain_in_flow() {
  ScalarToken token;
  token.begin = pos_;
  token.end = pos_;
  uint32_t line_of_end = line_start_;
  while (!done()) {
    const char c = peek();
    const bool colon = c == ':' && (ends_word(pos_ + 1) || is_flow_indicator(at(pos_ + 1)));
    const bool comment = c == '#' && pos_ > token.begin && ends_word(pos_ - 1);
    if (is_flow_indicator(c) || colon || comment) break;
    if (is_break(c)) line_start_ = pos_ + 1;
    ++pos_;
    if (is_blank(c) || is_break(c)) continue;
    token.end = pos_;
    line_of_end = line_start_;
  }
  pos_ = token.end;
  line_start_ = line_of_end;
  if (token.end == token.begin) return fail(pos_, "a value is missing here");
  add(token);
}

}  // namespace kvbudget
