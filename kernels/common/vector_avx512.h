// Sixteen floats at a time: AVX-512 with VBMI (Ice Lake, Zen 4). The vocabulary of the decode
// loops, in which a vector of K holds one dimension of 16 tokens, one of V 16 dimensions of one
// token.
//
// Every FP8 value is a bfloat16, the upper half of a float. Two byte permutations look its bytes up
// in tables of 128 entries, a shift or a mask makes floats of even and odd elements: some two
// instructions per vector, against five by way of binary16.
#pragma once

#include <immintrin.h>

#include "kernels/common/code_table.h"

namespace kvbudget::kernels {

struct VectorAvx512 {
  static constexpr int kWidth = 16;
  static constexpr int kMaxRows = 8;  ///< query rows whose accumulators fit the registers
  /// Pairs of vectors of V hold even and odd dimensions of 2 x kWidth; so do the outputs, until
  /// the loop's end.
  static constexpr bool kInterleaved = true;
  static constexpr int kKeyElements = 1;  ///< dimensions of K in a lane of an operand
  static constexpr int kValueTokens = 1;  ///< tokens of V in a lane of an operand
  static constexpr int kMostDotRows = 2;  ///< up to so many rows take scores token by token
  static constexpr int kGroups = 1;       ///< of kWidth tokens whose scores share loads of queries
  /// What load_piece and load_keys take at once.
  template <ElementType kType>
  static constexpr int kPieceElements = kType == ElementType::kBFloat16 ? 32 : 64;
  template <ElementType kType>
  static constexpr int kShortPiece = kPieceElements<kType>;
  /// What a float read from an e4m3 code must be multiplied by.
  static constexpr float kE4Scale = 1.f;
  using F = __m512;
  using M = __mmask16;

  static KVB_HD F zero() { return _mm512_setzero_ps(); }
  static KVB_HD F set1(float x) { return _mm512_set1_ps(x); }
  static KVB_HD F load(const float* p) { return _mm512_loadu_ps(p); }
  static KVB_HD void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static KVB_HD F add(F a, F b) { return _mm512_add_ps(a, b); }
  static KVB_HD F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static KVB_HD F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static KVB_HD F div(F a, F b) { return _mm512_div_ps(a, b); }
  static KVB_HD F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static KVB_HD F max(F a, F b) { return _mm512_max_ps(a, b); }
  static KVB_HD float sum(F x) { return _mm512_reduce_add_ps(x); }
  static KVB_HD float largest(F x) { return _mm512_reduce_max_ps(x); }
  /// The sums over the lanes of four vectors.
  static KVB_HD void store_sums(F a, F b, F c, F d, float* to) {
    const F by_lane = join_quad(join_pair(a, b), join_pair(c, d));
    const __m256 y =
        _mm256_add_ps(_mm512_castps512_ps256(by_lane), _mm512_extractf32x8_ps(by_lane, 1));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1)));
  }
  /// Lane i is kept if low <= i < high, else it becomes `other`.
  static KVB_HD F keep(F x, int low, int high, F other) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const M inside = _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(low)) &
                     _mm512_cmplt_epi32_mask(lane, _mm512_set1_epi32(high));
    return _mm512_mask_blend_ps(inside, other, x);
  }
  static KVB_HD F round(F x) { return _mm512_roundscale_ps(x, 0); }
  /// x times 2^n for a whole n; 0 where n is below -126.
  static KVB_HD F scale_by_power(F x, F n) {
    const M normal = _mm512_cmp_ps_mask(n, _mm512_set1_ps(-126.f), _CMP_GE_OQ);
    return _mm512_maskz_scalef_ps(normal, x, n);
  }

  /// 16 bytes of each of 16 rows (kWidth tokens), transposed: f(dimension, 16 tokens).
  template <ElementType kType, typename Fn>
  static KVB_HD void transpose(const uint8_t* base, int64_t stride, const int64_t* shift,
                               const Fn& f) {
    const __m512i z0 = rows<0>(base, stride, shift);
    const __m512i z1 = rows<1>(base, stride, shift);
    const __m512i z2 = rows<2>(base, stride, shift);
    const __m512i z3 = rows<3>(base, stride, shift);
    const __m512i a0 = _mm512_unpacklo_epi16(z0, z1), a1 = _mm512_unpackhi_epi16(z0, z1);
    const __m512i b0 = _mm512_unpacklo_epi16(z2, z3), b1 = _mm512_unpackhi_epi16(z2, z3);
    constexpr int kStep = kType == ElementType::kBFloat16 ? 2 : 4;  // dimensions of two words
    quad<kType>(_mm512_unpacklo_epi32(a0, b0), 0, f);
    quad<kType>(_mm512_unpackhi_epi32(a0, b0), kStep, f);
    quad<kType>(_mm512_unpacklo_epi32(a1, b1), 2 * kStep, f);
    quad<kType>(_mm512_unpackhi_epi32(a1, b1), 3 * kStep, f);
  }

  /// Of 32 consecutive elements the even and the odd ones: see kInterleaved.
  template <ElementType kType>
  static KVB_HD void load_pair(const uint8_t* p, F* even, F* odd) {
    if constexpr (kType == ElementType::kBFloat16) {
      split(_mm512_loadu_si512(p), even, odd);
    } else {
      const __m512i twice = _mm512_set_epi8(
          31, 31, 30, 30, 29, 29, 28, 28, 27, 27, 26, 26, 25, 25, 24, 24, 23, 23, 22, 22, 21, 21,
          20, 20, 19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9,
          9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
      const __m512i codes = _mm512_permutexvar_epi8(
          twice, _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
      constexpr __mmask64 kLowBytes = 0x5555555555555555;
      const Tables t = tables<kType>();
      const __m512i lows = _mm512_mask2_permutex2var_epi8(t.low[0], codes, kLowBytes, t.low[1]);
      const __m512i both = _mm512_mask2_permutex2var_epi8(t.high[0], lows, ~kLowBytes, t.high[1]);
      const __m512i sign = _mm512_set1_epi16(static_cast<int16_t>(0x8000));
      split(_mm512_ternarylogic_epi32(both, codes, sign, kOrAnd), even, odd);
    }
  }

  /// Of 64 consecutive codes four vectors, with less shuffling than two pairs: vector v's lane j is
  /// element key_element(v, j).
  template <ElementType kType>
  static KVB_HD void load_piece(const uint8_t* p, F* vectors) {
    if constexpr (kType == ElementType::kBFloat16) {
      load_pair<kType>(p, &vectors[0], &vectors[1]);
    } else {
      __m512i low, high;
      words<kType>(_mm512_loadu_si512(p), &low, &high);
      split(low, &vectors[0], &vectors[1]);
      split(high, &vectors[2], &vectors[3]);
    }
  }
  template <ElementType kType, int kElements>
  static KVB_HD void load_keys(const uint8_t* p, F* vectors) {
    load_piece<kType>(p, vectors);
  }
  template <ElementType kType>
  static constexpr int key_element(int vector, int lane, int) {
    if (kType == ElementType::kBFloat16) return 2 * lane + vector;
    return 16 * (lane / 4) + 8 * (vector / 2) + 2 * (lane % 4) + vector % 2;
  }

  /// What a lane of queries holds for an operand of K.
  static float join_elements(const float* elements) { return elements[0]; }
  static KVB_HD F multiply_keys(F keys, F queries, F sums) { return fma(keys, queries, sums); }

  /// Lane t is the sum over the lanes of dot(t): 16 sums for the shuffles of a transposition.
  template <typename Dot>
  static KVB_HD F sums(const Dot& dot) {
    return join_lanes(join_lanes(quad_of<0>(dot), quad_of<4>(dot)),
                      join_lanes(quad_of<8>(dot), quad_of<12>(dot)));
  }

 protected:
  /// Per lane of 128 bits the sums of tokens T to T + 3.
  template <int T, typename Dot>
  static KVB_HD F quad_of(const Dot& dot) {
    const F a = join_pair(dot(T), dot(T + 1));
    return join_quad(a, join_pair(dot(T + 2), dot(T + 3)));
  }
  static KVB_HD F join_quad(F x, F y) {
    const __m512d a = _mm512_castps_pd(x);
    const __m512d b = _mm512_castps_pd(y);
    return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                         _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  static KVB_HD F join_pair(F x, F y) {
    return _mm512_add_ps(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y));
  }
  static KVB_HD F join_lanes(F x, F y) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(x, y, 0x88), _mm512_shuffle_f32x4(x, y, 0xdd));
  }

  static KVB_HD __m512i with_sign(__m512i magnitudes, __m512i codes) {
    return _mm512_ternarylogic_epi32(magnitudes, codes, _mm512_set1_epi8(static_cast<char>(0x80)),
                                     kOrAnd);
  }

  static constexpr int kOrAnd = 0xf8;  ///< a | (b & c)

  /// Codes to bfloat16: in each lane of 128 bits the lower 8 and the upper 8.
  template <ElementType kType>
  static KVB_HD void words(__m512i codes, __m512i* lower, __m512i* upper) {
    const Tables t = tables<kType>();
    const __m512i low = _mm512_permutex2var_epi8(t.low[0], codes, t.low[1]);
    const __m512i high = with_sign(_mm512_permutex2var_epi8(t.high[0], codes, t.high[1]), codes);
    *lower = _mm512_unpacklo_epi8(low, high);
    *upper = _mm512_unpackhi_epi8(low, high);
  }

  struct Tables {
    __m512i low[2], high[2];
  };

  template <ElementType kType>
  static KVB_HD Tables tables() {
    const CodeTable& table = kCodeTable<kType>;
    return {{_mm512_load_si512(table.low), _mm512_load_si512(table.low + 64)},
            {_mm512_load_si512(table.high), _mm512_load_si512(table.high + 64)}};
  }

  /// Rows J, 4 + J, 8 + J, 12 + J in the four lanes. Tokens' swizzles repeat every 8 rows.
  template <int J>
  static KVB_HD __m512i rows(const uint8_t* base, int64_t stride, const int64_t* shift) {
    const auto row = [&](int t) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + t * stride + shift[t % 8]));
    };
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(row(J)), row(4 + J), 1);
    const __m256i high =
        _mm256_inserti128_si256(_mm256_castsi128_si256(row(8 + J)), row(12 + J), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }

  /// `x` holds, in lane l, a pair of bytes (FP8) or one element (bfloat16) of tokens 4l to 4l + 3,
  /// then the following pair or element of the same tokens.
  template <ElementType kType, typename Fn>
  static KVB_HD void quad(__m512i x, int first, const Fn& f) {
    F a, b;
    if constexpr (kType == ElementType::kBFloat16) {
      const __m512i none = _mm512_setzero_si512();
      f(first, _mm512_castsi512_ps(_mm512_unpacklo_epi16(none, x)));
      f(first + 1, _mm512_castsi512_ps(_mm512_unpackhi_epi16(none, x)));
    } else {
      __m512i lower, upper;
      words<kType>(x, &lower, &upper);
      split(lower, &a, &b);
      f(first, a);
      f(first + 1, b);
      split(upper, &a, &b);
      f(first + 2, a);
      f(first + 3, b);
    }
  }

  /// bfloat16 words to floats, even ones and odd ones.
  static KVB_HD void split(__m512i words, F* even, F* odd) {
    *even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    *odd = _mm512_castsi512_ps(
        _mm512_and_si512(words, _mm512_set1_epi32(static_cast<int32_t>(0xffff0000))));
  }
};

}  // namespace kvbudget::kernels
