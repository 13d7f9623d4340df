#include "lint/read/quantity.h"

#include <array>
#include <charconv>
#include <cmath>

namespace kvbudget {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr double kKi = 1024.0;

constexpr std::array<Suffix, 14> kKubernetes = {{{"", 1.0},
                                                 {"n", 1e-9},
                                                 {"u", 1e-6},
                                                 {"m", 1e-3},
                                                 {"k", 1e3},
                                                 {"M", 1e6},
                                                 {"G", 1e9},
                                                 {"T", 1e12},
                                                 {"P", 1e15},
                                                 {"Ki", kKi},
                                                 {"Mi", kKi* kKi},
                                                 {"Gi", kKi* kKi* kKi},
                                                 {"Ti", kKi* kKi* kKi* kKi},
                                                 {"Pi", kKi* kKi* kKi* kKi* kKi}}};

constexpr std::array<Suffix, 9> kCompose = {{{"", 1.0},
                                             {"b", 1.0},
                                             {"k", kKi},
                                             {"kb", kKi},
                                             {"m", kKi* kKi},
                                             {"mb", kKi* kKi},
                                             {"g", kKi* kKi* kKi},
                                             {"gb", kKi* kKi* kKi},
                                             {"t", kKi* kKi* kKi* kKi}}};

bool same_letters(std::string_view a, std::string_view b, bool any_case) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char lower = any_case && a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (lower != b[i]) return false;
  }
  return true;
}

template <size_t N>
std::optional<double> parse(std::string_view text, const std::array<Suffix, N>& suffixes,
                            bool any_case) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool finite = error == std::errc() && std::isfinite(number) && number >= 0.0;
  if (!finite) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  for (const Suffix& suffix : suffixes) {
    if (same_letters(rest, suffix.text, any_case)) return number * suffix.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_quantity(std::string_view text) {
  return parse(text, kKubernetes, false);
}

std::optional<uint64_t> parse_compose_bytes(std::string_view text) {
  const std::optional<double> bytes = parse(text, kCompose, true);
  constexpr double kMost = 1e18;
  if (!bytes || *bytes > kMost) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

}  // namespace kvbudget
