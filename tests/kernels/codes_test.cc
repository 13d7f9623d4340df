// Every code, every 16-bit input and millions of floats against the definition, and against
// NVIDIA's own host functions where the toolkit's header is there.
#include <cstring>
#include <random>
#include <vector>

#include "kernels/common/float_bits.h"
#include "kernels/common/scale.h"
#include "tests/kernels/reference_codes.h"
#include "tests/support/catch.h"

#if __has_include(<cuda_fp8.h>)
#define KVB_HAS_CUDA_FP8 1
#include <cuda_fp8.h>
#endif

using namespace kvbudget::kernels;
using test::code_value;
using test::ReferenceEncoder;

namespace {

constexpr ElementType kE4 = ElementType::kFloat8E4M3;
constexpr ElementType kE5 = ElementType::kFloat8E5M2;

uint32_t encode(ElementType type, float x) {
  return type == kE4 ? encode_fp8<kE4>(x) : encode_fp8<kE5>(x);
}

/// All binary16 and bfloat16 numbers, the neighbours of every rounding border, and random bits.
std::vector<float> inputs() {
  std::vector<float> x;
  for (uint32_t i = 0; i < 65536; ++i) {
    x.push_back(half_to_float(i));
    x.push_back(bfloat16_to_float(i));
  }
  for (const ElementType type : {kE4, kE5}) {
    for (uint32_t code = 0; code < 0x7b; ++code) {
      const double middle = (code_value(type, code) + code_value(type, code + 1)) / 2;
      for (const double value : {code_value(type, code), middle}) {
        const auto near = static_cast<float>(value);
        for (const float y : {near, std::nextafter(near, 0.f), std::nextafter(near, 1e30f)}) {
          x.push_back(y);
          x.push_back(-y);
        }
      }
    }
  }
  std::mt19937 random(11);
  for (int i = 0; i < 1 << 22; ++i) x.push_back(float_of(static_cast<uint32_t>(random())));
  std::uniform_real_distribution<float> spread(-12.f, 10.f);
  for (int i = 0; i < 1 << 22; ++i) {
    const float magnitude = std::exp2(spread(random));
    x.push_back(random() & 1 ? -magnitude : magnitude);
  }
  return x;
}

}  // namespace

TEST_CASE("Every finite FP8 code decodes to the value that defines it") {
  for (uint32_t code = 0; code < 256; ++code) {
    CAPTURE(code);
    if (std::isfinite(code_value(kE4, code)))
      CHECK(bits_of(decode_fp8<kE4>(code)) == bits_of(static_cast<float>(code_value(kE4, code))));
    if (std::isfinite(code_value(kE5, code)))
      CHECK(bits_of(decode_fp8<kE5>(code)) == bits_of(static_cast<float>(code_value(kE5, code))));
  }
}

TEST_CASE("Encoding takes the nearest code, ties to even, saturates and never writes NaN") {
  const std::vector<float> x = inputs();
  for (const ElementType type : {kE4, kE5}) {
    const ReferenceEncoder reference(type);
    size_t wrong = 0;
    for (const float value : x) {
      const uint32_t code = encode(type, value);
      if (code == reference(value) && std::isfinite(code_value(type, code))) continue;
      if (wrong++ == 0)
        FAIL_CHECK("first: " << value << " became " << code << ", not " << reference(value));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Every finite code comes back from its value") {
  for (const ElementType type : {kE4, kE5}) {
    for (uint32_t code = 0; code < 256; ++code) {
      if (std::isfinite(code_value(type, code)))
        CHECK(encode(type, static_cast<float>(code_value(type, code))) == code);
    }
  }
}

#ifdef KVB_HAS_CUDA_FP8
TEST_CASE("Codes equal those of NVIDIA's host functions") {
  const std::vector<float> x = inputs();
  for (const ElementType type : {kE4, kE5}) {
    const __nv_fp8_interpretation_t theirs = type == kE4 ? __NV_E4M3 : __NV_E5M2;
    size_t wrong = 0;
    for (const float value : x) {
      if (std::isnan(value)) continue;  // theirs is a NaN code: the one difference, on purpose
      if (encode(type, value) != __nv_cvt_float_to_fp8(value, __NV_SATFINITE, theirs)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}
#endif

TEST_CASE("binary16 converts both ways like the compiler's type") {
  for (uint32_t i = 0; i < 65536; ++i) {
    _Float16 theirs;
    const auto narrow = static_cast<uint16_t>(i);
    std::memcpy(&theirs, &narrow, sizeof theirs);
    const auto wide = static_cast<float>(theirs);
    if (std::isnan(wide)) {
      REQUIRE(std::isnan(half_to_float(i)));
    } else {
      REQUIRE(bits_of(half_to_float(i)) == bits_of(wide));
    }
  }
  size_t wrong = 0;
  for (const float value : inputs()) {
    if (std::isnan(value)) continue;
    const auto theirs = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &theirs, sizeof bits);
    if (float_to_half(value) != bits) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("bfloat16 rounds to nearest even and keeps NaN") {
  CHECK(float_to_bfloat16(float_of(0x3f808000)) == 0x3f80);
  CHECK(float_to_bfloat16(float_of(0x3f818000)) == 0x3f82);
  CHECK(float_to_bfloat16(float_of(0x3f808001)) == 0x3f81);
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(NAN))));
  for (uint32_t i = 0; i < 65536; ++i) {
    const float wide = bfloat16_to_float(i);
    if (!std::isnan(wide)) REQUIRE(float_to_bfloat16(wide) == i);
  }
}

TEST_CASE("A row's scale is the smallest power of two that its largest element fits under") {
  std::mt19937 random(5);
  for (int i = 0; i < 1 << 20; ++i) {
    const uint32_t amax = static_cast<uint32_t>(random()) % kInfinityBits;
    const double largest = float_of(amax);
    for (const uint32_t exponent : {kMaxExponent<kE4>, kMaxExponent<kE5>}) {
      const double limit = std::ldexp(1.75, static_cast<int>(exponent));
      const uint32_t code = scale_code(amax, exponent);
      const double scale = scale_of_code(code);
      REQUIRE(code >= kvbudget::layout::kMinScaleCode);
      REQUIRE(code <= kvbudget::layout::kMaxScaleCode);
      REQUIRE(scale * inverse_scale_of_code(code) == 1.0);
      if (code < kvbudget::layout::kMaxScaleCode) REQUIRE(largest <= limit * scale);
      if (code > kvbudget::layout::kMinScaleCode) REQUIRE(largest > limit * scale / 2);
    }
  }
}
