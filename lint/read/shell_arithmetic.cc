#include "lint/read/shell_arithmetic.h"

#include <charconv>

#include "lint/read/shell_reader.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 40;

class Evaluator {
 public:
  Evaluator(std::string_view text, const ShellScope& scope, int depth)
      : text_(text), scope_(scope), depth_(depth) {}

  std::optional<int64_t> whole() {
    const auto value = sum();
    skip_blanks();
    return pos_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (pos_ < text_.size() && (is_shell_blank(text_[pos_]) || text_[pos_] == '\n')) ++pos_;
  }

  bool take(char c) {
    skip_blanks();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  std::optional<int64_t> sum() {
    std::optional<int64_t> left = product();
    while (left) {
      const char op = take('+') ? '+' : take('-') ? '-' : '\0';
      if (op == '\0') break;
      left = apply(op, *left, product());
    }
    return left;
  }

  std::optional<int64_t> product() {
    std::optional<int64_t> left = operand();
    while (left) {
      const char op = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : '\0';
      if (op == '\0') break;
      left = apply(op, *left, operand());
    }
    return left;
  }

  static std::optional<int64_t> apply(char op, int64_t left, std::optional<int64_t> right) {
    if (!right) return std::nullopt;
    int64_t result = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(left, *right, &result);
    if (op == '-') overflow = __builtin_sub_overflow(left, *right, &result);
    if (op == '*') overflow = __builtin_mul_overflow(left, *right, &result);
    if (op == '/' || op == '%') {
      overflow = *right == 0 || (*right == -1 && left == INT64_MIN);
      if (!overflow) result = op == '/' ? left / *right : left % *right;
    }
    return overflow ? std::nullopt : std::optional<int64_t>(result);
  }

  std::optional<int64_t> operand() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    skip_blanks();
    std::optional<int64_t> value;
    if (take('(')) {
      value = sum();
      if (!take(')')) value = std::nullopt;
    } else if (take('-')) {
      value = apply('-', 0, operand());
    } else if (take('$')) {
      value = take('{') ? braced() : variable(name());
    } else if (pos_ < text_.size() && is_name_start(text_[pos_])) {
      value = variable(name());
    } else {
      value = number();
    }
    --depth_;
    return value;
  }

  std::string_view name() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && is_name_char(text_[pos_])) ++pos_;
    return text_.substr(begin, pos_ - begin);
  }

  std::optional<int64_t> number() {
    int64_t value = 0;
    const char* begin = text_.data() + pos_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    // A leading zero means octal to the shell.
    if (error != std::errc() || (*begin == '0' && end - begin > 1)) return std::nullopt;
    pos_ += static_cast<size_t>(end - begin);
    return value;
  }

  /// Behind `${`: a name, and maybe `:-default`.
  std::optional<int64_t> braced() {
    const std::string_view own = name();
    const size_t close = text_.find('}', pos_);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view rest = text_.substr(pos_, close - pos_);
    pos_ = close + 1;
    if (rest.empty() || scope_.find(own) != nullptr) return variable(own);
    if (!rest.starts_with(":-") && !rest.starts_with('-')) return std::nullopt;
    rest.remove_prefix(rest[0] == ':' ? 2 : 1);
    return Evaluator(rest, scope_, depth_).whole();
  }

  /// A variable that holds an expression is not followed: it could go on without end.
  std::optional<int64_t> variable(std::string_view own) {
    const ShellValue* value = scope_.find(own);
    if (value == nullptr || !value->known || value->words.size() != 1) return std::nullopt;
    const Word& word = value->words.front();
    Evaluator inner(word.text.view(), scope_, depth_);
    const auto number = inner.number();
    const bool whole = word.known && inner.pos_ == word.text.size();
    return whole ? number : std::nullopt;
  }

  std::string_view text_;
  const ShellScope& scope_;
  int depth_;
  size_t pos_ = 0;
};

}  // namespace

std::optional<int64_t> evaluate_arithmetic(std::string_view text, const ShellScope& scope) {
  return Evaluator(text, scope, 0).whole();
}

}  // namespace kvbudget
