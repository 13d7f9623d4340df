// Conversions between binary32 and the narrow formats, by integer arithmetic alone and free of
// branches: the same bits on every machine, and loops over them vectorise.
//
// FP8 follows OCP's "8-bit Floating Point Specification" 1.0. Our policy on top:
// - rounding to nearest even, saturating: infinities become the largest finite code;
// - NaN is never written: it becomes +0 (the quantiser counts it). Decoders that shift bits read
//   e4m3's NaN code 0x7f as 480, the GPU's conversion reads NaN, so a page must not hold it.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/hd.h"
#include "kernels/layout/dtype.h"

namespace kvbudget::kernels {

using layout::ElementType;

KVB_HD uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

KVB_HD float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr uint32_t kAbsMask = 0x7fffffff;
constexpr uint32_t kInfinityBits = 0x7f800000;

KVB_HD bool is_nan_bits(uint32_t bits) { return (bits & kAbsMask) > kInfinityBits; }

/// Rounds to a format of `kMantissa` stored bits and exponent bias `kBias`; the result is the
/// magnitude's code, unbounded above: the caller deals with overflow, NaN and sign.
template <uint32_t kMantissa, uint32_t kBias>
KVB_HD uint32_t round_magnitude(uint32_t magnitude) {
  constexpr uint32_t kShift = 23 - kMantissa;
  constexpr uint32_t kMinNormal = (127 - kBias + 1) << 23;
  const uint32_t even = (magnitude >> kShift) & 1;
  const uint32_t normal = (magnitude + ((1u << (kShift - 1)) - 1) + even) >> kShift;
  // Adding a float whose last bit weighs one subnormal step lets the addition round.
  constexpr uint32_t kMagic = (127 + 23 - (kBias - 1 + kMantissa)) << 23;
  const uint32_t subnormal = bits_of(float_of(magnitude) + float_of(kMagic)) - kMagic;
  return magnitude < kMinNormal ? subnormal : normal - ((127 - kBias) << kMantissa);
}

/// The code of `x`: nearest, ties to even, saturating; NaN gives 0.
template <ElementType kType>
KVB_HD uint32_t encode_fp8(float x) {
  static_assert(kType == ElementType::kFloat8E4M3 || kType == ElementType::kFloat8E5M2);
  constexpr bool kE4 = kType == ElementType::kFloat8E4M3;
  constexpr uint32_t kMaxBits = kE4 ? 0x43e00000 : 0x47600000;  // 448, 57344
  constexpr uint32_t kMaxCode = kE4 ? 0x7e : 0x7b;
  const uint32_t bits = bits_of(x);
  const uint32_t magnitude = bits & kAbsMask;
  const uint32_t rounded =
      kE4 ? round_magnitude<3, 7>(magnitude) : round_magnitude<2, 15>(magnitude);
  const uint32_t code = magnitude >= kMaxBits ? kMaxCode : rounded;
  return magnitude > kInfinityBits ? 0 : code | ((bits >> 24) & 0x80);
}

KVB_HD float half_to_float(uint32_t half) {
  const uint32_t magnitude = half & 0x7fff;
  const float finite = float_of(magnitude << 13) * 0x1p112f;
  const uint32_t special = kInfinityBits | (magnitude << 13);
  const uint32_t bits = magnitude >= 0x7c00 ? special : bits_of(finite);
  return float_of(bits | (half & 0x8000) << 16);
}

KVB_HD uint32_t float_to_half(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t magnitude = bits & kAbsMask;
  const uint32_t finite = magnitude >= 0x477ff000 ? 0x7c00 : round_magnitude<10, 15>(magnitude);
  return (magnitude > kInfinityBits ? 0x7e00 : finite) | ((bits >> 16) & 0x8000);
}

KVB_HD float bfloat16_to_float(uint32_t x) { return float_of(x << 16); }

KVB_HD uint32_t float_to_bfloat16(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return is_nan_bits(bits) ? 0x7fc0 : rounded;
}

/// e4m3 shifted into binary16 is the value times 2^-8, exactly, subnormals included; e5m2 is the
/// upper half of binary16 as it is. `kCodeScale` undoes the former.
template <ElementType kType>
KVB_HD uint32_t code_to_half(uint32_t code) {
  if (kType == ElementType::kFloat8E5M2) return code << 8;
  return (code & 0x80) << 8 | (code & 0x7f) << 7;
}

template <ElementType kType>
inline constexpr float kCodeScale = kType == ElementType::kFloat8E4M3 ? 256.f : 1.f;

/// Every finite code exactly; e4m3's NaN codes read as +-480.
template <ElementType kType>
KVB_HD float decode_fp8(uint32_t code) {
  return half_to_float(code_to_half<kType>(code)) * kCodeScale<kType>;
}

/// A type's elements as floats, for loops over memory.
template <ElementType kType>
struct Element;

template <>
struct Element<ElementType::kFloat32> {
  using Storage = float;
  static KVB_HD float load(float x) { return x; }
  static KVB_HD float store(float x) { return x; }
};

template <>
struct Element<ElementType::kFloat16> {
  using Storage = uint16_t;
  static KVB_HD float load(uint16_t x) { return half_to_float(x); }
  static KVB_HD uint16_t store(float x) { return static_cast<uint16_t>(float_to_half(x)); }
};

template <>
struct Element<ElementType::kBFloat16> {
  using Storage = uint16_t;
  static KVB_HD float load(uint16_t x) { return bfloat16_to_float(x); }
  static KVB_HD uint16_t store(float x) { return static_cast<uint16_t>(float_to_bfloat16(x)); }
};

template <ElementType kType>
struct Fp8Element {
  using Storage = uint8_t;
  static KVB_HD float load(uint8_t x) { return decode_fp8<kType>(x); }
  static KVB_HD uint8_t store(float x) { return static_cast<uint8_t>(encode_fp8<kType>(x)); }
};

template <>
struct Element<ElementType::kFloat8E4M3> : Fp8Element<ElementType::kFloat8E4M3> {};
template <>
struct Element<ElementType::kFloat8E5M2> : Fp8Element<ElementType::kFloat8E5M2> {};

}  // namespace kvbudget::kernels
