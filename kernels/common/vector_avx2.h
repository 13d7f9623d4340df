// Eight floats at a time: AVX2, FMA, F16C. See vector_avx512.h, whose functions these are.
#pragma once

#include <immintrin.h>

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

struct VectorAvx2 {
  static constexpr int kWidth = 8;
  static constexpr int kMaxRows = 4;
  static constexpr bool kInterleaved = false;
  static constexpr bool kHasPieces = false;
  static constexpr float kE4Scale = kCodeScale<ElementType::kFloat8E4M3>;
  using F = __m256;

  static KVB_HD F zero() { return _mm256_setzero_ps(); }
  static KVB_HD F set1(float x) { return _mm256_set1_ps(x); }
  static KVB_HD F load(const float* p) { return _mm256_loadu_ps(p); }
  static KVB_HD void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  static KVB_HD F add(F a, F b) { return _mm256_add_ps(a, b); }
  static KVB_HD F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static KVB_HD F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static KVB_HD F div(F a, F b) { return _mm256_div_ps(a, b); }
  static KVB_HD F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static KVB_HD F max(F a, F b) { return _mm256_max_ps(a, b); }
  static KVB_HD float sum(F x) {
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
  }
  static KVB_HD float largest(F x) {
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
  }
  static KVB_HD void store_sums(F a, F b, F c, F d, float* to) {
    const F by_lane = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    _mm_storeu_ps(to,
                  _mm_add_ps(_mm256_castps256_ps128(by_lane), _mm256_extractf128_ps(by_lane, 1)));
  }
  static KVB_HD F keep(F x, int low, int high, F other) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i inside = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), lane),
                                               _mm256_cmpgt_epi32(_mm256_set1_epi32(high), lane));
    return _mm256_blendv_ps(other, x, _mm256_castsi256_ps(inside));
  }
  static KVB_HD F round(F x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static KVB_HD F scale_by_power(F x, F n) {
    const F normal = _mm256_cmp_ps(n, _mm256_set1_ps(-126.f), _CMP_GE_OQ);
    const F bounded = _mm256_max_ps(n, _mm256_set1_ps(-126.f));
    const __m256i power = _mm256_slli_epi32(
        _mm256_add_epi32(_mm256_cvtps_epi32(bounded), _mm256_set1_epi32(127)), 23);
    return _mm256_and_ps(normal, _mm256_mul_ps(x, _mm256_castsi256_ps(power)));
  }

  template <ElementType kType, typename Fn>
  static KVB_HD void transpose(const uint8_t* base, int64_t stride, const int64_t* shift,
                               const Fn& f) {
    const __m256i z0 = rows<0>(base, stride, shift);
    const __m256i z1 = rows<1>(base, stride, shift);
    const __m256i z2 = rows<2>(base, stride, shift);
    const __m256i z3 = rows<3>(base, stride, shift);
    if constexpr (kType == ElementType::kBFloat16) {
      const __m256i a0 = _mm256_unpacklo_epi16(z0, z1), a1 = _mm256_unpackhi_epi16(z0, z1);
      const __m256i b0 = _mm256_unpacklo_epi16(z2, z3), b1 = _mm256_unpackhi_epi16(z2, z3);
      wide_pair(_mm256_unpacklo_epi32(a0, b0), 0, f);
      wide_pair(_mm256_unpackhi_epi32(a0, b0), 2, f);
      wide_pair(_mm256_unpacklo_epi32(a1, b1), 4, f);
      wide_pair(_mm256_unpackhi_epi32(a1, b1), 6, f);
    } else {
      const __m256i a0 = _mm256_unpacklo_epi8(z0, z1), a1 = _mm256_unpackhi_epi8(z0, z1);
      const __m256i b0 = _mm256_unpacklo_epi8(z2, z3), b1 = _mm256_unpackhi_epi8(z2, z3);
      quad<kType>(_mm256_unpacklo_epi16(a0, b0), 0, f);
      quad<kType>(_mm256_unpackhi_epi16(a0, b0), 4, f);
      quad<kType>(_mm256_unpacklo_epi16(a1, b1), 8, f);
      quad<kType>(_mm256_unpackhi_epi16(a1, b1), 12, f);
    }
  }

  template <ElementType kType>
  static KVB_HD void load_pair(const uint8_t* p, F* low, F* high) {
    const auto* from = reinterpret_cast<const __m128i*>(p);
    if constexpr (kType == ElementType::kBFloat16) {
      *low = widen(_mm_loadu_si128(from));
      *high = widen(_mm_loadu_si128(from + 1));
    } else {
      const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(from));
      halves_to_floats(to_halves<kType>(_mm256_slli_epi16(codes, 8)), low, high);
    }
  }

 private:
  template <int J>
  static KVB_HD __m256i rows(const uint8_t* base, int64_t stride, const int64_t* shift) {
    const auto row = [&](int t) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + t * stride + shift[t % 8]));
    };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(row(J)), row(4 + J), 1);
  }

  template <ElementType kType, typename Fn>
  static KVB_HD void quad(__m256i x, int first, const Fn& f) {
    const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
    const __m256i by_dimension = _mm256_permutevar8x32_epi32(x, order);
    const __m256i none = _mm256_setzero_si256();
    F low, high;
    halves_to_floats(to_halves<kType>(_mm256_unpacklo_epi8(none, by_dimension)), &low, &high);
    f(first, low);
    f(first + 1, high);
    halves_to_floats(to_halves<kType>(_mm256_unpackhi_epi8(none, by_dimension)), &low, &high);
    f(first + 2, low);
    f(first + 3, high);
  }

  template <typename Fn>
  static KVB_HD void wide_pair(__m256i x, int first, const Fn& f) {
    const __m256i by_dimension = _mm256_permute4x64_epi64(x, 0xd8);
    f(first, widen(_mm256_castsi256_si128(by_dimension)));
    f(first + 1, widen(_mm256_extracti128_si256(by_dimension, 1)));
  }

  template <ElementType kType>
  static KVB_HD __m256i to_halves(__m256i upper) {
    if constexpr (kType == ElementType::kFloat8E5M2) return upper;
    return _mm256_and_si256(_mm256_srai_epi16(upper, 1),
                            _mm256_set1_epi16(static_cast<int16_t>(0xbfff)));
  }

  static KVB_HD void halves_to_floats(__m256i halves, F* low, F* high) {
    *low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    *high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  }

  static KVB_HD F widen(__m128i bfloat16) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bfloat16), 16));
  }
};

}  // namespace kvbudget::kernels
