// The quantiser's kernel: one warp takes one (token, KV head), half of it K, half V.
//
// A lane loads 8 elements at a time; the largest magnitude of the row comes from four shuffles, its
// scale from that, a power of two from its exponent bits or a float; codes leave as 8-byte stores,
// scales by one lane. W is a machine: on the GPU a lane value is a register, on the host an array
// of 32, so the same source is compiled by nvcc and run lane by lane in tests. Every branch is
// taken by a whole warp; what differs between lanes is said by predicates.
#pragma once

#include "kernels/common/page_row.h"
#include "kernels/common/scale.h"
#include "kernels/quantize/scale_search.h"

namespace kvbudget::kernels {

constexpr int kUnitElements = 8;
constexpr int kMaxUnits = 2;  // per lane: 16 lanes x 2 x 8 elements are head dimension 256

template <class W>
struct QuantizeWarp {
  using U32 = typename W::U32;
  using U64 = typename W::U64;
  using F32 = typename W::F32;
  using Bool = typename W::Bool;

  W& w;
  const kvb_quantize_args& a;

  KVB_HD_BODY void run(int64_t token, int32_t head) {
    const int64_t slot = w.load_uniform(a.slots + token);
    if (slot < 0) return;
    const kvb_pages& pages = a.pages;
    const PageRow row{slot / pages.block_tokens, head,
                      static_cast<int32_t>(slot % pages.block_tokens)};
    const U32 lane = w.lane();
    const Bool is_value = w.each([](uint32_t l) { return l >= 16; }, lane);
    const U32 first_unit = w.each([](uint32_t l) { return l & 15; }, lane);

    F32 x[kMaxUnits][kUnitElements];
    Bool active[kMaxUnits];
    U32 amax = w.each([](uint32_t) { return 0u; }, lane);
    U32 nans = amax;
    KVB_UNROLL
    for (int i = 0; i < kMaxUnits; ++i) {
      const uint32_t units = static_cast<uint32_t>(pages.head_dim / kUnitElements);
      active[i] = w.each([=](uint32_t u) { return u + 16u * i < units; }, first_unit);
      load_unit(token, head, is_value, first_unit, i, active[i], x[i]);
      KVB_UNROLL
      for (const F32& element : x[i]) {
        amax = w.each(
            [](uint32_t m, float e) {
              const uint32_t magnitude = finite_magnitude(bits_of(e));
              return magnitude > m ? magnitude : m;
            },
            amax, element);
        nans = w.each([](uint32_t n, float e) { return n + (is_nan_bits(bits_of(e)) ? 1u : 0u); },
                      nans, element);
      }
    }
    if (a.nan_count != nullptr) w.add_nonzero(a.nan_count, nans);
    if (pages.type == KVB_FLOAT8_E4M3) {
      store<ElementType::kFloat8E4M3>(row, is_value, first_unit, amax, active, x);
    } else {
      store<ElementType::kFloat8E5M2>(row, is_value, first_unit, amax, active, x);
    }
  }

 private:
  /// 8 elements of each active lane as floats; inactive lanes get zeros.
  KVB_HD_BODY void load_unit(int64_t token, int32_t head, const Bool& is_value,
                             const U32& first_unit, int i, const Bool& active, F32* x) {
    const int64_t width = a.type == KVB_FLOAT32 ? 4 : 2;
    const uint64_t keys =
        w.address(a.keys) +
        static_cast<uint64_t>((token * a.key_token_stride + head * a.key_head_stride) * width);
    const uint64_t values =
        w.address(a.values) +
        static_cast<uint64_t>((token * a.value_token_stride + head * a.value_head_stride) * width);
    const U64 from = w.each(
        [=](bool v, uint32_t unit) {
          return (v ? values : keys) +
                 static_cast<uint64_t>((unit + 16u * i) * kUnitElements * width);
        },
        is_value, first_unit);
    U32 words[8];
    w.load128(from, active, words);
    if (a.type == KVB_FLOAT32) {
      w.load128(w.each([](uint64_t f) { return f + 16; }, from), active, words + 4);
      KVB_UNROLL
      for (int e = 0; e < kUnitElements; ++e)
        x[e] = w.each([](uint32_t bits) { return float_of(bits); }, words[e]);
      return;
    }
    const bool is_half = a.type == KVB_FLOAT16;
    KVB_UNROLL
    for (int e = 0; e < kUnitElements; ++e) {
      const int shift = 16 * (e & 1);
      x[e] = w.each(
          [=](uint32_t pair) {
            const uint32_t bits = (pair >> shift) & 0xffff;
            return is_half ? half_to_float(bits) : bfloat16_to_float(bits);
          },
          words[e / 2]);
    }
  }

  template <ElementType kType>
  KVB_HD_BODY void store(const PageRow& row, const Bool& is_value, const U32& first_unit, U32 amax,
                         const Bool* active, const F32 (*x)[kUnitElements]) {
    const kvb_pages& pages = a.pages;
    const bool by_power = pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0;
    const bool by_float = pages.scales == KVB_SCALES_TOKEN_HEAD_F32;
    F32 inverse = w.each([](uint32_t) { return 1.f; }, amax);
    F32 divisor = inverse;
    if (by_power || by_float) {
      KVB_UNROLL
      for (int distance = 8; distance > 0; distance /= 2)
        amax = w.each([](uint32_t m, uint32_t n) { return m > n ? m : n; }, amax,
                      w.shuffle_xor(amax, distance));
    }
    if (by_power) {
      const U32 code = w.each([](uint32_t m) { return scale_code(m, kMaxExponent<kType>); }, amax);
      inverse = w.each([](uint32_t c) { return inverse_scale_of_code(c); }, code);
      store_scale(row, is_value, first_unit, code);
    } else if (by_float) {
      divisor = nearest_scale<kType>(amax, x);
      store_scale(row, is_value, first_unit, w.each([](float s) { return bits_of(s); }, divisor));
    } else if (pages.scales != KVB_SCALES_NONE) {
      const int32_t at = pages.scales == KVB_SCALES_HEAD ? row.head : 0;
      const float key_scale = w.load_uniform(static_cast<const float*>(pages.key_scales) + at);
      const float value_scale = w.load_uniform(static_cast<const float*>(pages.value_scales) + at);
      divisor = w.each([=](bool v) { return v ? value_scale : key_scale; }, is_value);
    }
    const uint64_t keys = w.address(pages.keys) + static_cast<uint64_t>(row_offset(pages, row));
    const uint64_t values = w.address(pages.values) + static_cast<uint64_t>(row_offset(pages, row));
    const uint32_t token = static_cast<uint32_t>(row.token);
    const bool swizzle = pages.swizzle != 0;
    KVB_UNROLL
    for (int i = 0; i < kMaxUnits; ++i) {
      U32 words[2];
      KVB_UNROLL
      for (int half = 0; half < 2; ++half) {
        words[half] = w.each([](uint32_t) { return 0u; }, first_unit);
        KVB_UNROLL
        for (int e = 0; e < 4; ++e) {
          words[half] = w.each(
              [=](uint32_t word, float value, float inv, float div) {
                const float scaled = by_power ? value * inv : value / div;
                return word | encode_fp8<kType>(scaled) << (8 * e);
              },
              words[half], x[i][4 * half + e], inverse, divisor);
        }
      }
      const U64 to = w.each(
          [=](bool v, uint32_t first) {
            const uint32_t eight = first + 16u * i;
            const uint32_t unit = swizzle ? layout::swizzled_unit(eight / 2, token) : eight / 2;
            return (v ? values : keys) + unit * 16 + (eight & 1) * 8;
          },
          is_value, first_unit);
      w.store64(to, active[i], words[0], words[1]);
    }
  }

  /// Of a half warp, which holds a row; the lanes of a row agree.
  template <ElementType kType>
  KVB_HD_BODY F32 nearest_scale(const U32& amax, const F32 (*x)[kUnitElements]) {
    const F32 exact = w.each([](uint32_t m) { return float_scale(m, kMaxExponent<kType>); }, amax);
    U32 best = w.each([](uint32_t) { return 0u; }, amax);
    U32 least = w.each([](uint32_t) { return UINT32_MAX; }, amax);
    for (int i = 0; i < kScaleCandidates; ++i) {
      U32 sum = w.each([](uint32_t) { return 0u; }, amax);
      KVB_UNROLL
      for (int unit = 0; unit < kMaxUnits; ++unit) {
        KVB_UNROLL
        for (int e = 0; e < kUnitElements; ++e) {
          sum = w.each(
              [=](uint32_t s, float value, float scale) {
                return s + squared_error<kType>(value, scale_candidate<kType>(scale, i));
              },
              sum, x[unit][e], exact);
        }
      }
      KVB_UNROLL
      for (int distance = 8; distance > 0; distance /= 2)
        sum = w.each([](uint32_t s, uint32_t other) { return s + other; }, sum,
                     w.shuffle_xor(sum, distance));
      best = w.each([=](uint32_t b, uint32_t s, uint32_t l) { return s < l ? uint32_t(i) : b; },
                    best, sum, least);
      least = w.each([](uint32_t s, uint32_t l) { return s < l ? s : l; }, sum, least);
    }
    return w.each(
        [](float scale, uint32_t b) { return candidate_scale(scale, static_cast<int>(b)); }, exact,
        best);
  }

  /// `bits`: a power's byte, or a float.
  KVB_HD_BODY void store_scale(const PageRow& row, const Bool& is_value, const U32& first_unit,
                               const U32& bits) {
    const uint64_t offset = static_cast<uint64_t>(scale_offset(a.pages, row));
    const uint64_t keys = w.address(a.pages.key_scales) + offset;
    const uint64_t values = w.address(a.pages.value_scales) + offset;
    const U64 to = w.each([=](bool v) { return v ? values : keys; }, is_value);
    const Bool leader = w.each([](uint32_t unit) { return unit == 0; }, first_unit);
    if (a.pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0) {
      w.store8(to, leader, bits);
    } else {
      w.store32(to, leader, bits);
    }
  }
};

}  // namespace kvbudget::kernels
