#include "lint/memory/format.h"

#include <algorithm>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

// Hundredths of a GiB, rounded half up; exact for every 64-bit count.
uint64_t hundredths(uint64_t bytes) {
  const uint64_t whole = bytes / kGiB;
  const uint64_t rest = bytes % kGiB;
  return whole * 100 + (rest * 100 + kGiB / 2) / kGiB;
}

std::string hundredths_text(uint64_t value) {
  std::string decimals = std::to_string(value % 100);
  if (decimals.size() == 1) decimals.insert(decimals.begin(), '0');
  return std::to_string(value / 100) + "." + decimals;
}

}  // namespace

std::string gib_number(int64_t bytes) {
  if (bytes >= 0) return hundredths_text(hundredths(static_cast<uint64_t>(bytes)));
  const uint64_t size = hundredths(uint64_t{0} - static_cast<uint64_t>(bytes));
  return (size == 0 ? "" : "-") + hundredths_text(size);
}

std::string gib_text(uint64_t bytes) { return hundredths_text(hundredths(bytes)) + " GiB"; }
std::string gib_text(int64_t bytes) { return gib_number(bytes) + " GiB"; }

std::string with_commas(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string decimal_text(double value, int decimals) {
  double scale = 1.0;
  for (int i = 0; i < decimals; ++i) scale *= 10.0;
  const double rounded = value * scale + (value < 0 ? -0.5 : 0.5);
  const auto digits = static_cast<int64_t>(rounded);
  const auto unit = static_cast<int64_t>(scale);
  std::string fraction = std::to_string(std::abs(digits % unit));
  fraction.insert(
      0, static_cast<size_t>(decimals) - std::min(fraction.size(), static_cast<size_t>(decimals)),
      '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  std::string text = (digits < 0 ? "-" : "") + std::to_string(std::abs(digits / unit));
  return fraction.empty() ? text : text + "." + fraction;
}

}  // namespace kvbudget::memory
