// Eight floats at a time: AVX2, FMA, F16C. See vector_avx512.h, whose functions these are.
#pragma once

#include <immintrin.h>

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

struct VectorAvx2 {
  static constexpr int kWidth = 8;
  static constexpr int kMaxRows = 4;
  static constexpr bool kInterleaved = true;
  static constexpr int kKeyElements = 1;
  static constexpr int kValueTokens = 1;
  static constexpr int kMostDotRows = 4;
  static constexpr int kGroups = 1;
  template <ElementType kType>
  static constexpr int kPieceElements = kType == ElementType::kBFloat16 ? 16 : 32;
  template <ElementType kType>
  static constexpr int kShortPiece = 16;
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
    const F by_lane = join_quad(join_pair(a, b), join_pair(c, d));
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
  static KVB_HD void load_pair(const uint8_t* p, F* even, F* odd) {
    if constexpr (kType == ElementType::kBFloat16) {
      const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      *even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
      *odd = _mm256_castsi256_ps(
          _mm256_and_si256(words, _mm256_set1_epi32(static_cast<int32_t>(0xffff0000))));
    } else {
      const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      *even = _mm256_cvtph_ps(to_halves<kType>(_mm_slli_epi16(codes, 8)));
      *odd = _mm256_cvtph_ps(to_halves<kType>(codes));
    }
  }

  /// As two pairs, with fewer instructions.
  template <ElementType kType>
  static KVB_HD void load_piece(const uint8_t* p, F* vectors) {
    if constexpr (kType == ElementType::kBFloat16) {
      load_pair<kType>(p, &vectors[0], &vectors[1]);
    } else {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      halves_to_floats(to_halves<kType>(_mm256_slli_epi16(codes, 8)), &vectors[0], &vectors[2]);
      halves_to_floats(to_halves<kType>(codes), &vectors[1], &vectors[3]);
    }
  }
  template <ElementType kType, int kElements>
  static KVB_HD void load_keys(const uint8_t* p, F* vectors) {
    if constexpr (kElements == 16)
      load_pair<kType>(p, &vectors[0], &vectors[1]);
    else
      load_piece<kType>(p, vectors);
  }
  template <ElementType kType>
  static constexpr int key_element(int vector, int lane, int) {
    return vector / 2 * 16 + 2 * lane + vector % 2;
  }

  static float join_elements(const float* elements) { return elements[0]; }
  static KVB_HD F multiply_keys(F keys, F queries, F sums) { return fma(keys, queries, sums); }

  template <typename Dot>
  static KVB_HD F sums(const Dot& dot) {
    const F x = quad_of<0>(dot);
    const F y = quad_of<4>(dot);
    return _mm256_add_ps(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
  }

 private:
  template <int T, typename Dot>
  static KVB_HD F quad_of(const Dot& dot) {
    const F a = join_pair(dot(T), dot(T + 1));
    return join_quad(a, join_pair(dot(T + 2), dot(T + 3)));
  }
  static KVB_HD F join_pair(F x, F y) {
    return _mm256_add_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
  }
  static KVB_HD F join_quad(F x, F y) {
    const __m256d a = _mm256_castps_pd(x);
    const __m256d b = _mm256_castps_pd(y);
    return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)),
                         _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
  }

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

  /// Codes in the upper bytes of words to binary16; the lower bytes may hold anything.
  static constexpr int16_t kUpperByte = static_cast<int16_t>(0xff00);
  static constexpr int16_t kShifted = static_cast<int16_t>(0xbf80);  ///< sign, payload >> 1
  template <ElementType kType>
  static KVB_HD __m128i to_halves(__m128i upper) {
    if constexpr (kType == ElementType::kFloat8E5M2)
      return _mm_and_si128(upper, _mm_set1_epi16(kUpperByte));
    return _mm_and_si128(_mm_srai_epi16(upper, 1), _mm_set1_epi16(kShifted));
  }
  template <ElementType kType>
  static KVB_HD __m256i to_halves(__m256i upper) {
    if constexpr (kType == ElementType::kFloat8E5M2)
      return _mm256_and_si256(upper, _mm256_set1_epi16(kUpperByte));
    return _mm256_and_si256(_mm256_srai_epi16(upper, 1), _mm256_set1_epi16(kShifted));
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
