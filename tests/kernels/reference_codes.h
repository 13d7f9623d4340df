// FP8 by its definition, in double: the table of all finite values and a search through it. Shares
// nothing with the kernels' arithmetic.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/layout/dtype.h"

namespace kvbudget::kernels::test {

/// OCP FP8 1.0: e4m3 has one NaN code per sign and no infinity, e5m2 is like binary16.
inline double code_value(layout::ElementType type, uint32_t code) {
  const bool e4 = type == layout::ElementType::kFloat8E4M3;
  const int mantissa_bits = e4 ? 3 : 2;
  const int bias = e4 ? 7 : 15;
  const int exponent = static_cast<int>(code & 0x7f) >> mantissa_bits;
  const int mantissa = static_cast<int>(code) & ((1 << mantissa_bits) - 1);
  const double sign = code & 0x80 ? -1.0 : 1.0;
  if (e4 && (code & 0x7f) == 0x7f) return NAN;
  if (!e4 && exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  const double fraction = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(fraction, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
}

class ReferenceEncoder {
 public:
  explicit ReferenceEncoder(layout::ElementType type)
      : num_finite_(type == layout::ElementType::kFloat8E4M3 ? 0x7f : 0x7c) {
    for (uint32_t code = 0; code < num_finite_; ++code) values_[code] = code_value(type, code);
  }

  uint32_t operator()(double x) const {
    if (std::isnan(x)) return 0;
    const uint32_t sign = std::signbit(x) ? 0x80 : 0;
    const double magnitude = std::fabs(x);
    if (magnitude >= values_[num_finite_ - 1]) return sign | (num_finite_ - 1);
    uint32_t low = 0;
    uint32_t high = num_finite_ - 1;
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (values_[middle] <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - values_[low];
    const double above = values_[high] - magnitude;
    if (below != above) return sign | (below < above ? low : high);
    return sign | (low % 2 == 0 ? low : high);
  }

 private:
  uint32_t num_finite_;
  std::array<double, 128> values_{};
};

}  // namespace kvbudget::kernels::test
