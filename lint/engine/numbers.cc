#include "lint/engine/numbers.h"

#include <charconv>
#include <cmath>
#include <string>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr std::string_view kPythonBlanks = " \t\n\r\f\v";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Python allows one underscore between two digits; anything else with underscores is no number.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
      continue;
    }
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!between) return std::nullopt;
  }
  if (digits.starts_with('+')) digits.erase(0, 1);
  if (digits.empty() || digits.starts_with('+')) return std::nullopt;
  return digits;
}

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  const std::optional<std::string> digits = without_underscores(trimmed(text, kPythonBlanks));
  if (!digits) return std::nullopt;
  Number value{};
  const char* const end = digits->data() + digits->size();
  const auto [next, error] = std::from_chars(digits->data(), end, value);
  if (error != std::errc() || next != end) return std::nullopt;
  return value;
}

struct Suffix {
  int power = 0;  // 0: not a suffix
  bool binary = false;
};

Suffix suffix_of(char c) {
  constexpr std::string_view kDecimal = "kmgt";
  constexpr std::string_view kBinary = "KMGT";
  if (const size_t i = kDecimal.find(c); i != std::string_view::npos) {
    return {static_cast<int>(i) + 1, false};
  }
  if (const size_t i = kBinary.find(c); i != std::string_view::npos) {
    return {static_cast<int>(i) + 1, true};
  }
  return {};
}

std::optional<int64_t> scaled(std::string_view number, Suffix suffix) {
  const bool decimal = number.find('.') != std::string_view::npos;
  if (decimal && suffix.binary) return std::nullopt;
  if (!is_digit(number.front()) || !is_digit(number.back())) return std::nullopt;
  if (number.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const std::optional<double> value = parse_whole<double>(number);
  if (!value) return std::nullopt;
  const double result = *value * std::pow(suffix.binary ? 1024.0 : 1000.0, suffix.power);
  if (result >= 9.2e18) return std::nullopt;
  return static_cast<int64_t>(result);
}

}  // namespace

std::optional<int64_t> python_int(std::string_view text) { return parse_whole<int64_t>(text); }

std::optional<double> python_float(std::string_view text) {
  const std::optional<double> value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> human_int(std::string_view text, FlagType type, Version version) {
  const std::string_view word = trimmed(text, kPythonBlanks);
  if (word.empty()) return std::nullopt;
  if (type == FlagType::kHumanIntAuto && word.size() == 4) {
    if (lower(word) == "auto") return -1;
  }
  const Suffix suffix = suffix_of(word.back());
  if (suffix.power == 0) return python_int(word);
  // `t` and `T` came with 0.13.0.
  if (suffix.power == 4 && version < Version{0, 13, 0}) return std::nullopt;
  if (word.size() == 1) return std::nullopt;
  return scaled(word.substr(0, word.size() - 1), suffix);
}

}  // namespace kvbudget
