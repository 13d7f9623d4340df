// After compose-spec, "Interpolation": `$X`, `${X}`, `${X:-word}`, `${X-word}`, `${X:+word}`,
// `${X:?message}`; words may hold variables again; `$$` is a dollar sign.

#include "lint/read/compose_text.h"

#include <algorithm>

#include "lint/read/shell_reader.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

constexpr int kMaxNesting = 32;

class Interpolator {
 public:
  explicit Interpolator(const SourceText& text) : text_(text) {
    result_.text = SourceText::empty_at(text.file(), text.location().range);
  }

  Word run() {
    until('\0', 0);
    return std::move(result_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }

  /// Copies up to `end` outside of variables; NUL means the end of the text.
  void until(char end, int depth) {
    while (pos_ < text_.size() && (end == '\0' || peek() != end)) {
      if (peek() != '$') {
        result_.text.append(peek(), text_.offset(pos_));
        ++pos_;
      } else {
        dollar(depth);
      }
    }
  }

  void dollar(int depth) {
    const size_t start = pos_++;
    if (peek() == '$') {
      result_.text.append('$', text_.offset(pos_++));
    } else if (is_name_start(peek())) {
      while (is_name_char(peek())) ++pos_;
      keep(start);
    } else if (peek() == '{') {
      braced(start, depth);
    } else {
      result_.text.append('$', text_.offset(start));
    }
  }

  void braced(size_t start, int depth) {
    ++pos_;
    while (is_name_char(peek())) ++pos_;
    const bool colon = peek() == ':';
    const char op = peek(colon ? 1 : 0);
    if ((op == '-' || op == '+') && depth < kMaxNesting) {
      pos_ += colon ? 2 : 1;
      const size_t word = pos_;
      const Word before = result_;
      until('}', depth + 1);
      ++pos_;
      if (op == '+') {  // the variable is not set: nothing
        result_ = before;
        pos_ = word;
        skip_braces();
      }
      return;
    }
    skip_braces();
    keep(start);
  }

  /// Behind the brace that closes the one we are in.
  void skip_braces() {
    for (int open = 1; pos_ < text_.size() && open > 0; ++pos_) {
      if (peek() == '$' && peek(1) == '{') ++open;
      if (peek() == '}') --open;
    }
  }

  void keep(size_t start) {
    result_.text.append(text_.substr(start, std::min(pos_, text_.size()) - start));
    result_.known = false;
  }

  const SourceText& text_;
  size_t pos_ = 0;
  Word result_;
};

}  // namespace

Word interpolate(const Node& scalar) {
  Word word = Interpolator(scalar.text).run();
  word.known = word.known && !has_template_action(scalar.text.view());
  return word;
}

}  // namespace kvbudget
