// FP8 magnitudes as bfloat16, lower and upper bytes apart: what a machine with byte permutations
// over 128 entries looks up. e4m3's NaN code reads as 480 here too.
#pragma once

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

struct CodeTable {
  alignas(64) uint8_t low[128];
  alignas(64) uint8_t high[128];
};

constexpr uint32_t magnitude_as_bfloat16(uint32_t code, uint32_t mantissa_bits, uint32_t bias) {
  uint32_t exponent = code >> mantissa_bits;
  uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  if (exponent == 0 && mantissa == 0) return 0;
  if (mantissa_bits == 2 && exponent == 31) return 0x7f80 | mantissa << 5;  // infinity, NaN
  uint32_t lead = 0;
  if (exponent == 0) {
    while (mantissa >> mantissa_bits == 0) {
      mantissa <<= 1;
      ++lead;
    }
    mantissa &= (1u << mantissa_bits) - 1;
    exponent = 1;
  }
  return (exponent + 127 - bias - lead) << 7 | mantissa << (7 - mantissa_bits);
}

constexpr CodeTable make_code_table(ElementType type) {
  CodeTable table{};
  const bool e4 = type == ElementType::kFloat8E4M3;
  for (uint32_t code = 0; code < 128; ++code) {
    const uint32_t bits = magnitude_as_bfloat16(code, e4 ? 3 : 2, e4 ? 7 : 15);
    table.low[code] = static_cast<uint8_t>(bits & 0xff);
    table.high[code] = static_cast<uint8_t>(bits >> 8);
  }
  return table;
}

template <ElementType kType>
inline constexpr CodeTable kCodeTable = make_code_table(kType);

static_assert(magnitude_as_bfloat16(0x38, 3, 7) == 0x3f80);  // 1
static_assert(magnitude_as_bfloat16(0x01, 3, 7) == 0x3b00);  // 2^-9

}  // namespace kvbudget::kernels
