// Operators after POSIX.1-2017, `test`, and bash's `[[`, whose `==` takes a pattern on the right.

#include "lint/read/shell_condition.h"

#include <charconv>
#include <string>

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 40;  // nested parentheses and negations

std::optional<int64_t> whole_number(const Word& word) {
  const std::string_view text = word.text.view();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!word.known || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Truth compare_numbers(std::string_view op, const Word& left, const Word& right) {
  const auto a = whole_number(left);
  const auto b = whole_number(right);
  if (!a || !b) return std::nullopt;
  if (op == "-eq") return *a == *b;
  if (op == "-ne") return *a != *b;
  if (op == "-lt") return *a < *b;
  if (op == "-le") return *a <= *b;
  if (op == "-gt") return *a > *b;
  if (op == "-ge") return *a >= *b;
  return std::nullopt;
}

class Test {
 public:
  Test(const std::vector<Word>& words, bool patterns) : words_(words), patterns_(patterns) {}

  Truth whole() {
    const Truth value = either();
    return pos_ == words_.size() ? value : std::nullopt;
  }

 private:
  std::string_view peek(size_t ahead = 0) const {
    return pos_ + ahead < words_.size() ? words_[pos_ + ahead].text.view() : std::string_view();
  }
  bool take(std::string_view a, std::string_view b) {
    if (peek() != a && peek() != b) return false;
    ++pos_;
    return true;
  }

  Truth either() {
    Truth value = both();
    while (take("-o", "||")) value = truth_or(value, both());
    return value;
  }

  Truth both() {
    Truth value = negation();
    while (take("-a", "&&")) value = truth_and(value, negation());
    return value;
  }

  Truth negation() {
    if (++depth_ > kMaxDepth) return stop();
    const bool negated = words_.size() - pos_ > 1 && take("!", "!");
    return negated ? truth_not(negation()) : primary();
  }

  Truth primary() {
    const size_t left = words_.size() - pos_;
    if (left == 0) return false;
    if (left >= 3 && is_binary(peek(1))) return binary();
    if (take("(", "(")) {
      const Truth value = either();
      return take(")", ")") ? value : stop();
    }
    if (left >= 2 && peek().size() == 2 && peek()[0] == '-') return unary();
    return is_filled(words_[pos_++]);
  }

  static bool is_binary(std::string_view op) {
    return op == "=" || op == "==" || op == "!=" || op == "=~" || op == "<" || op == ">" ||
           (op.size() == 3 && op[0] == '-');
  }

  Truth binary() {
    const Word& left = words_[pos_];
    const std::string_view op = peek(1);
    const Word& right = words_[pos_ + 2];
    pos_ += 3;
    if (op[0] == '-') return compare_numbers(op, left, right);
    if (!left.known || !right.known || op == "=~" || op == "<" || op == ">") return std::nullopt;
    const bool same = patterns_ ? fits_pattern(left.text.view(), right.text.view())
                                : left.text.view() == right.text.view();
    return same == (op != "!=");
  }

  Truth unary() {
    const char op = peek()[1];
    const Word& operand = words_[pos_ + 1];
    pos_ += 2;
    if (op == 'n') return is_filled(operand);
    if (op == 'z') return truth_not(is_filled(operand));
    return std::nullopt;
  }

  static Truth is_filled(const Word& word) {
    return word.known ? Truth(!word.text.empty()) : std::nullopt;
  }

  Truth stop() {
    pos_ = words_.size();
    return std::nullopt;
  }

  const std::vector<Word>& words_;
  const bool patterns_;
  size_t pos_ = 0;
  int depth_ = 0;
};

/// `[a-c]`, `[!x]` from `p` on: where the pattern goes on if the character fits, else 0. A bracket
/// that is never closed is the character itself.
size_t fits_set(char c, std::string_view pattern, size_t p) {
  size_t i = p + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool fits = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) return fits != negated ? i + 1 : 0;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      fits = fits || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 3;
    } else {
      fits = fits || pattern[i] == c;
      ++i;
    }
  }
  return c == '[' ? p + 1 : 0;
}

/// Where the pattern goes on behind `p` if its next element fits the character, else 0.
size_t fits_one(char c, std::string_view pattern, size_t p) {
  if (p >= pattern.size()) return 0;
  if (pattern[p] == '?') return p + 1;
  if (pattern[p] == '[') return fits_set(c, pattern, p);
  if (pattern[p] == '\\' && p + 1 < pattern.size()) ++p;
  return pattern[p] == c ? p + 1 : 0;
}

}  // namespace

Truth truth_not(Truth a) { return a ? Truth(!*a) : a; }

Truth truth_and(Truth a, Truth b) {
  if (a == false || b == false) return false;
  return a && b ? Truth(true) : std::nullopt;
}

Truth truth_or(Truth a, Truth b) { return truth_not(truth_and(truth_not(a), truth_not(b))); }

Truth evaluate_test(const std::vector<Word>& words, bool patterns) {
  return Test(words, patterns).whole();
}

// After a `*` only the last one needs to be tried again: what stood before it fits already.
bool fits_pattern(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;  // the last `*`, and where the text went on behind it
  size_t behind = 0;
  while (at < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = at;
    } else if (const size_t next = fits_one(text[at], pattern, p); next != 0) {
      p = next;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++behind;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Word literal_pattern(const Word& text) {
  Word result{text.text.substr(0, 0), text.known};
  for (size_t i = 0; i < text.text.size(); ++i) {
    const char c = text.text[i];
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) {
      result.text.append('\\', text.text.offset(i));
    }
    result.text.append(c, text.text.offset(i));
  }
  return result;
}

}  // namespace kvbudget
