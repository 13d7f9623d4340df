#include "lint/own_keys.h"

#include <charconv>

#include "lint/engine/nearest.h"

namespace kvbudget {
namespace {

std::string short_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known) {
  std::string all = "expected one of";
  for (const std::string_view name : known) all += " " + std::string(name);
  return "unknown key '" + std::string(key) + "'" + did_you_mean(key, known, all);
}

BoundedNumber bounded_number(const Node& value, double least, double most) {
  const std::string_view text = value.scalar();
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && number >= least && number <= most) return {number, ""};
  return {least, "expected a number from " + short_text(least) + " to " + short_text(most) +
                     ", not '" + std::string(text) + "'"};
}

}  // namespace kvbudget
