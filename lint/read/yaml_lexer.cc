// A line-oriented lexer. In block context it keeps the columns of the open collections, because
// they decide where multi-line plain and block scalars end; in flow context it keeps the brackets.

#include "lint/read/yaml_lexer.h"

#include <algorithm>
#include <optional>

namespace kvbudget {
namespace {

// Deeper documents are refused: LLVM's parser and everything after it recurse.
constexpr size_t kMaxDepth = 200;
// Real files hold a few thousand scalars. A million would take seconds in the parser.
constexpr size_t kMaxScalars = 500'000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }
bool is_flow_indicator(char c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class Lexer {
 public:
  Lexer(const YamlInput& input, uint32_t begin, uint32_t end)
      : work_(input.work.substr(0, end)), base_(begin), pos_(begin), line_start_(begin) {
    result_.mask.assign(end - begin, ' ');
  }

  LexedYaml run() {
    while (pos_ < work_.size() && !failed()) line();
    return std::move(result_);
  }

 private:
  bool failed() const { return !result_.problems.empty(); }
  char at(size_t i) const { return i < work_.size() ? work_[i] : '\n'; }
  bool ends_word(size_t i) const { return is_blank(at(i)) || is_break(at(i)); }
  uint32_t column() const { return pos_ - line_start_; }

  void fail(uint32_t offset, std::string message) {
    if (!failed()) result_.problems.push_back({offset, std::move(message)});
  }
  void show(uint32_t i) { result_.mask[i - base_] = work_[i]; }
  void hide(uint32_t begin, uint32_t end) {
    std::fill(result_.mask.begin() + (begin - base_), result_.mask.begin() + (end - base_), 'x');
  }

  /// Steps over the line break at `pos_`, which CR LF counts as one.
  void next_line() {
    if (pos_ < work_.size()) {
      if (work_[pos_] == '\r' && at(pos_ + 1) == '\n' && pos_ + 1 < work_.size()) ++pos_;
      result_.mask[pos_ - base_] = '\n';
      ++pos_;
    }
    line_start_ = pos_;
  }
  void skip_to_break() {
    while (pos_ < work_.size() && !is_break(work_[pos_])) ++pos_;
  }
  void skip_blanks() {
    while (pos_ < work_.size() && is_blank(work_[pos_])) ++pos_;
  }

  // -- block context -----------------------------------------------------------------------------

  void line() {
    while (at(pos_) == ' ' && pos_ < work_.size()) ++pos_;
    const uint32_t indent_end = pos_;
    skip_blanks();
    const bool has_content = pos_ < work_.size() && !is_break(work_[pos_]) && work_[pos_] != '#';
    if (has_content && pos_ != indent_end) {
      fail(indent_end, "a tab cannot indent YAML, use spaces");
      return;
    }
    key_allowed_ = true;
    property_column_.reset();
    while (pos_ < work_.size() && !is_break(work_[pos_]) && !failed()) block_item();
    next_line();
  }

  /// One indicator, property, scalar or flow collection of a line, and the blanks behind it.
  void block_item() {
    const char c = work_[pos_];
    if (c == '#') return skip_to_break();  // a '#' inside a plain scalar does not get here
    if ((c == '-' || c == '?' || c == ':') && ends_word(pos_ + 1)) {
      if (!key_allowed_) return fail(pos_, "a list cannot start in the line of its key");
      open_collection(column());
      show(pos_++);
      property_column_.reset();
    } else if (c == '&' || c == '!') {
      property();
    } else if (c == '|' || c == '>') {
      block_scalar();
    } else {
      const uint32_t start = property_column_.value_or(column());
      property_column_.reset();
      node(c);
      if (!failed()) key_or_value(start);
    }
    skip_blanks();
  }

  void node(char c) {
    if (c == '"' || c == '\'') return quoted(c);
    if (c == '[' || c == '{') return flow();
    if (c == '*') return alias();
    if (c == ']' || c == '}' || c == ',' || c == '@' || c == '`' || c == '%') {
      return fail(pos_, std::string("a value cannot start with '") + c + "', put it in quotes");
    }
    plain_in_block();
  }

  /// Behind a node: with a colon it was a key, which may not stand in the value of another key.
  void key_or_value(uint32_t start) {
    skip_blanks();
    if (at(pos_) != ':' || !ends_word(pos_ + 1)) return;
    if (!key_allowed_) return fail(pos_, "a second ': ' in one line, put the value in quotes");
    open_collection(start);
    show(pos_++);
    key_allowed_ = false;
  }

  void open_collection(uint32_t at_column) {
    close_collections(at_column + 1);
    if (columns_.empty() || columns_.back() < at_column) columns_.push_back(at_column);
    if (columns_.size() > kMaxDepth) fail(pos_, "nested too deep to be a deployment");
  }
  void close_collections(uint32_t from_column) {
    while (!columns_.empty() && columns_.back() >= from_column) columns_.pop_back();
  }
  /// First column that a multi-line scalar which starts here may use on its next lines.
  uint32_t inner_column() {
    close_collections(column());
    return columns_.empty() ? 0 : columns_.back() + 1;
  }

  void property() {
    const bool in_flow = !brackets_.empty();
    const bool anchor = work_[pos_] == '&';
    const bool shown = anchor || !in_flow;  // LLVM lets a tag run on over the comma behind it
    if (!in_flow && !property_column_) property_column_ = column();
    if (shown) show(pos_);
    for (++pos_; !ends_word(pos_); ++pos_) {
      const char c = work_[pos_];
      if (in_flow && is_flow_indicator(c)) break;
      if (shown) result_.mask[pos_ - base_] = anchor && is_name(c) ? c : 'x';
    }
  }

  void alias() {
    const uint32_t begin = pos_;
    show(pos_++);
    while (!ends_word(pos_) && !is_flow_indicator(work_[pos_]) &&
           !(work_[pos_] == ':' && ends_word(pos_ + 1))) {
      result_.mask[pos_ - base_] = is_name(work_[pos_]) ? work_[pos_] : 'x';
      ++pos_;
    }
    if (pos_ == begin + 1) fail(begin, "'*' without the name of an anchor");
  }

  void plain_in_block() {
    ScalarToken token;
    token.begin = pos_;
    token.end = plain_line();
    const bool is_key = at(pos_) == ':' && ends_word(pos_ + 1) && pos_ < work_.size();
    if (!is_key) plain_continuation(token, inner_column());
    add(token);
  }

  /// Reads to the end of a plain scalar's part in this line; gives the end of its text.
  uint32_t plain_line() {
    uint32_t end = pos_;
    while (pos_ < work_.size() && !is_break(work_[pos_])) {
      const char c = work_[pos_];
      if (c == ':' && ends_word(pos_ + 1)) break;
      if (c == '#' && pos_ > base_ && is_blank(work_[pos_ - 1])) break;
      ++pos_;
      if (!is_blank(c)) end = pos_;
    }
    return end;
  }

  /// Lines that are indented deeper than the parent belong to the scalar, until a comment ends it.
  void plain_continuation(ScalarToken& token, uint32_t min_column) {
    while (pos_ < work_.size() && is_break(work_[pos_])) {
      uint32_t next = pos_;
      uint32_t start = pos_;
      while (next < work_.size() && (is_break(work_[next]) || is_blank(work_[next]))) {
        if (is_break(work_[next])) start = next + 1;
        ++next;
      }
      const bool belongs = next < work_.size() && next - start >= min_column && at(next) != '#';
      if (!belongs) return;
      line_start_ = start;
      pos_ = next;
      token.end = plain_line();
      if (pos_ < work_.size() && work_[pos_] == ':') {
        return fail(pos_, "a key inside a value of several lines, check the indentation");
      }
    }
  }

  void add(const ScalarToken& token) {
    hide(token.begin, token.end);
    result_.scalars.push_back(token);
    if (result_.scalars.size() > kMaxScalars) fail(token.begin, "too large to be a deployment");
  }

  void quoted(char quote) {
    ScalarToken token;
    token.begin = pos_++;
    token.style = quote == '"' ? Node::Style::kDoubleQuoted : Node::Style::kSingleQuoted;
    for (; pos_ < work_.size(); ++pos_) {
      const char c = work_[pos_];
      if (c == '\\' && quote == '"') {
        ++pos_;
      } else if (c == quote) {
        if (quote != '\'' || at(pos_ + 1) != '\'') break;
        ++pos_;
      } else if (is_break(c)) {
        line_start_ = pos_ + 1;
      }
    }
    if (pos_ >= work_.size()) return fail(token.begin, "a quoted text has no closing quote");
    token.end = ++pos_;
    add(token);
    result_.mask[token.begin - base_] = quote;
    result_.mask[token.end - 1 - base_] = quote;
  }

  void block_scalar() {
    ScalarToken token;
    token.begin = pos_;
    token.style = work_[pos_] == '|' ? Node::Style::kLiteral : Node::Style::kFolded;
    const uint32_t min_column = inner_column();
    uint32_t given_indent = 0;
    for (++pos_; !ends_word(pos_); ++pos_) {
      const char c = work_[pos_];
      if (c == '+' || c == '-') {
        token.chomp = c;
      } else if (c >= '1' && c <= '9' && given_indent == 0) {
        given_indent = static_cast<uint32_t>(c - '0');
      } else {
        return fail(token.begin, std::string("a value cannot start with '") + work_[token.begin] +
                                     "', put it in quotes");
      }
    }
    const uint32_t header_end = pos_;
    skip_blanks();
    if (pos_ < work_.size() && !is_break(work_[pos_]) && work_[pos_] != '#') {
      return fail(pos_, "text behind the header of a block scalar, start it on the next line");
    }
    skip_to_break();
    const uint32_t first_break = pos_;
    const uint32_t fixed = given_indent == 0 ? 0 : given_indent + (min_column ? min_column - 1 : 0);
    const uint32_t last_text = block_content(token, min_column, fixed);
    hide(token.begin, last_text == 0 ? header_end : last_text);
    result_.scalars.push_back(token);
    pos_ = last_text == 0 ? first_break : last_text;
  }

  /// Sets where the content is; gives the end of its last line that is not blank, 0 when there is
  /// none.
  uint32_t block_content(ScalarToken& token, uint32_t min_column, uint32_t fixed_indent) {
    next_line();
    token.content = pos_;
    token.indent = fixed_indent;
    uint32_t last_text = 0;
    bool indent_known = fixed_indent != 0;
    while (pos_ < work_.size()) {
      const uint32_t start = pos_;
      while (at(pos_) == ' ' && pos_ < work_.size()) ++pos_;
      const uint32_t indent = pos_ - start;
      const bool blank = pos_ >= work_.size() || is_break(work_[pos_]);
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
    return last_text;
  }

  // -- flow context ------------------------------------------------------------------------------

  void flow() {
    do {
      if (pos_ >= work_.size()) {
        const char open = work_[result_.flow_begins[brackets_.back()]];
        return fail(result_.flow_begins[brackets_.back()],
                    std::string("'") + open + "' is never closed");
      }
      flow_item();
    } while (!brackets_.empty() && !failed());
  }

  void flow_item() {
    const char c = work_[pos_];
    if (is_break(c)) return next_line();
    if (is_blank(c)) return skip_blanks();
    if (c == '#') return skip_to_break();
    if (c == '[' || c == '{') return open_bracket();
    if (c == ']' || c == '}') return close_bracket(c);
    if (c == ',') return show(pos_++);
    if (c == ':' && (after_json_key_ || ends_word(pos_ + 1) || is_flow_indicator(at(pos_ + 1)))) {
      after_json_key_ = false;
      return show(pos_++);
    }
    if ((c == '?' || c == '-') && ends_word(pos_ + 1)) return show(pos_++);
    if (c == '&' || c == '!') return property();
    after_json_key_ = false;
    if (c == '*') return alias();
    if (c == '"' || c == '\'') {
      quoted(c);
      after_json_key_ = true;
      return;
    }
    plain_in_flow();
  }

  void open_bracket() {
    after_json_key_ = false;
    brackets_.push_back(result_.flow_begins.size());
    result_.flow_begins.push_back(pos_);
    result_.flow_ends.push_back(pos_ + 1);
    show(pos_++);
    if (brackets_.size() + columns_.size() > kMaxDepth) {
      fail(pos_ - 1, "nested too deep to be a deployment");
    }
  }

  void close_bracket(char c) {
    const size_t opened = brackets_.back();
    const char open = work_[result_.flow_begins[opened]];
    if ((c == ']') != (open == '[')) {
      return fail(pos_, std::string("'") + open + "' is closed by '" + c + "'");
    }
    show(pos_++);
    result_.flow_ends[opened] = pos_;
    brackets_.pop_back();
    after_json_key_ = true;
  }

  void plain_in_flow() {
    ScalarToken token;
    token.begin = pos_;
    uint32_t end = pos_;
    uint32_t line_of_end = line_start_;
    while (pos_ < work_.size()) {
      const char c = work_[pos_];
      const bool colon = c == ':' && (ends_word(pos_ + 1) || is_flow_indicator(at(pos_ + 1)));
      if (is_flow_indicator(c) || colon) break;
      if (c == '#' && ends_word(pos_ - 1) && pos_ > token.begin) break;
      if (is_break(c)) line_start_ = pos_ + 1;
      ++pos_;
      if (!is_blank(c) && !is_break(c)) {
        end = pos_;
        line_of_end = line_start_;
      }
    }
    pos_ = end;
    line_start_ = line_of_end;
    token.end = end;
    if (end == token.begin) return fail(pos_, "a value is missing here");
    add(token);
  }

  std::string_view work_;
  uint32_t base_;
  uint32_t pos_;
  uint32_t line_start_;
  bool key_allowed_ = true;                  // no other key was in this line
  std::optional<uint32_t> property_column_;  // where the anchor or tag of the next node stands
  bool after_json_key_ = false;    // `"a":1`: behind a quote or bracket a colon needs no blank
  std::vector<uint32_t> columns_;  // open block collections
  std::vector<size_t> brackets_;   // open flow collections, as indices of flow_begins
  LexedYaml result_;
};

}  // namespace

uint32_t YamlInput::offset(size_t i) const {
  return text == nullptr ? static_cast<uint32_t>(i) : text->offset(i);
}

Location YamlInput::location(size_t begin, size_t end) const {
  if (file == nullptr) return {};
  const uint32_t first = offset(begin);
  const uint32_t last = end > begin ? offset(end - 1) + 1 : first;
  return {file, {first, std::max(first, last)}};
}

LexedYaml lex_yaml(const YamlInput& input, uint32_t begin, uint32_t end) {
  return Lexer(input, begin, end).run();
}

}  // namespace kvbudget
