// Operators after POSIX.1-2017, `test`, and bash's `[[`, whose `==` takes a pattern on the right.

#include "lint/read/shell_condition.h"

#include <fnmatch.h>

#include <charconv>
#include <string>

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 40;        // nested parentheses and negations
constexpr size_t kMaxPattern = 200;  // longer ones can take a matcher very long

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
  explicit Test(const std::vector<Word>& words) : words_(words) {}

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
    return fits_pattern(left.text.view(), right.text.view()) == (op != "!=");
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
  size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Truth truth_not(Truth a) { return a ? Truth(!*a) : a; }

Truth truth_and(Truth a, Truth b) {
  if (a == false || b == false) return false;
  return a && b ? Truth(true) : std::nullopt;
}

Truth truth_or(Truth a, Truth b) { return truth_not(truth_and(truth_not(a), truth_not(b))); }

Truth evaluate_test(const std::vector<Word>& words) { return Test(words).whole(); }

bool fits_pattern(std::string_view text, std::string_view pattern) {
  if (pattern.size() > kMaxPattern) return false;
  return fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace kvbudget
