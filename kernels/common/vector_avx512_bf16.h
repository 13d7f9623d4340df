// AVX-512 with products of bfloat16 (Zen 4, Sapphire Rapids): two multiply-adds in one instruction,
// and FP8 codes need not become floats. For bfloat16 queries.
//
// Operands are pairs of bfloat16 in lanes of 32 bits: of K two dimensions, times two of the query;
// of V one dimension of two tokens, times their weights. Products of bfloat16 are exact in the
// binary32 sums. A weight is the sum of two bfloat16, which leaves 2^-17 of it, and costs V no more
// instructions than floats would. The instruction takes numbers below 2^-126 for 0.
#pragma once

#include "kernels/common/vector_avx512.h"

namespace kvbudget::kernels {

/// Bytes of 32 dimensions of two tokens so that, once they are words, lanes hold pairs in order.
struct PairOrder {
  alignas(64) uint8_t index[64];
};

constexpr PairOrder make_pair_order() {
  PairOrder order{};
  for (int at = 0; at < 64; ++at) {
    const int byte = at % 16;
    const int dimension = byte / 8 * 16 + at / 16 * 4 + byte % 8 / 2;
    order.index[at] = static_cast<uint8_t>(dimension + byte % 2 * 64);
  }
  return order;
}

inline constexpr PairOrder kPairOrder = make_pair_order();

struct VectorAvx512Bf16 : VectorAvx512 {
  static constexpr bool kInterleaved = false;
  static constexpr int kKeyElements = 2;
  static constexpr int kValueTokens = 2;
  static constexpr int kGroups = 2;

  template <ElementType kType, typename Fn>
  static KVB_HD void transpose(const uint8_t* base, int64_t stride, const int64_t* shift,
                               const Fn& f) {
    const __m512i z0 = rows<0>(base, stride, shift);
    const __m512i z1 = rows<1>(base, stride, shift);
    const __m512i z2 = rows<2>(base, stride, shift);
    const __m512i z3 = rows<3>(base, stride, shift);
    if constexpr (kType == ElementType::kBFloat16) {
      const __m512i a0 = _mm512_unpacklo_epi32(z0, z1), a1 = _mm512_unpackhi_epi32(z0, z1);
      const __m512i b0 = _mm512_unpacklo_epi32(z2, z3), b1 = _mm512_unpackhi_epi32(z2, z3);
      f(0, operand(_mm512_unpacklo_epi64(a0, b0)));
      f(1, operand(_mm512_unpackhi_epi64(a0, b0)));
      f(2, operand(_mm512_unpacklo_epi64(a1, b1)));
      f(3, operand(_mm512_unpackhi_epi64(a1, b1)));
    } else {
      const __m512i a0 = _mm512_unpacklo_epi16(z0, z1), a1 = _mm512_unpackhi_epi16(z0, z1);
      const __m512i b0 = _mm512_unpacklo_epi16(z2, z3), b1 = _mm512_unpackhi_epi16(z2, z3);
      two_pairs<kType>(_mm512_unpacklo_epi32(a0, b0), 0, f);
      two_pairs<kType>(_mm512_unpackhi_epi32(a0, b0), 2, f);
      two_pairs<kType>(_mm512_unpacklo_epi32(a1, b1), 4, f);
      two_pairs<kType>(_mm512_unpackhi_epi32(a1, b1), 6, f);
    }
  }

  template <ElementType kType, int kElements>
  static KVB_HD void load_keys(const uint8_t* p, F* vectors) {
    if constexpr (kType == ElementType::kBFloat16) {
      vectors[0] = operand(_mm512_loadu_si512(p));
    } else {
      pairs<kType>(_mm512_loadu_si512(p), vectors);
    }
  }
  template <ElementType kType>
  static constexpr int key_element(int vector, int lane, int element) {
    if (kType == ElementType::kBFloat16) return 2 * lane + element;
    return 16 * (lane / 4) + 8 * vector + 2 * (lane % 4) + element;
  }

  static float join_elements(const float* elements) {
    return float_of(bits_of(elements[0]) >> 16 | (bits_of(elements[1]) & 0xffff0000));
  }
  static KVB_HD F multiply_keys(F keys, F queries, F sums) {
    return _mm512_dpbf16_ps(sums, pairs_of(keys), pairs_of(queries));
  }

  /// 32 dimensions of two tokens.
  template <ElementType kType>
  static KVB_HD void load_token_pair(const uint8_t* first, const uint8_t* second, F* vectors) {
    if constexpr (kType == ElementType::kBFloat16) {
      const __m512i x = _mm512_loadu_si512(first);
      const __m512i y = _mm512_loadu_si512(second);
      const __m512i low =
          _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38,
                           6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
      const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
      vectors[0] = operand(_mm512_permutex2var_epi16(x, low, y));
      vectors[1] = operand(_mm512_permutex2var_epi16(x, high, y));
    } else {
      pairs<kType>(
          _mm512_permutex2var_epi8(half(first), _mm512_load_si512(kPairOrder.index), half(second)),
          vectors);
    }
  }

  /// 16 weights as pairs of consecutive tokens: their upper parts, and what these leave.
  static KVB_HD void split_weights(const float* weights, float* upper, float* lower) {
    const F x = load(weights);
    const __m256i high = narrow(x);
    const F rest = sub(x, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(upper), high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lower), narrow(rest));
  }

 private:
  static KVB_HD F operand(__m512i x) { return _mm512_castsi512_ps(x); }
  static KVB_HD __m512bh pairs_of(F x) {
    __m512bh y;
    memcpy(&y, &x, sizeof y);
    return y;
  }
  static KVB_HD __m256i narrow(F x) {
    const __m256bh y = _mm512_cvtneps_pbh(x);
    __m256i bits;
    memcpy(&bits, &y, sizeof bits);
    return bits;
  }
  static KVB_HD __m512i half(const uint8_t* p) {
    return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }

  template <ElementType kType>
  static KVB_HD void pairs(__m512i codes, F* vectors) {
    __m512i lower, upper;
    words<kType>(codes, &lower, &upper);
    vectors[0] = operand(lower);
    vectors[1] = operand(upper);
  }

  template <ElementType kType, typename Fn>
  static KVB_HD void two_pairs(__m512i x, int first, const Fn& f) {
    F operands[2];
    pairs<kType>(x, operands);
    f(first, operands[0]);
    f(first + 1, operands[1]);
  }
};

}  // namespace kvbudget::kernels
