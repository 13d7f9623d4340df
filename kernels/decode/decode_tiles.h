// How a warp of the GPU's decode reads 16 tokens and its queries: what each lane loads, so that the
// words are fragments of mma.m16n8k16 as they come. Lane l is (g = l / 4, t = l % 4).
//
// - K: 16 bytes of tokens g and g + 8 at 16 t of every 64 dimensions;
// - V: 16 bytes of tokens 2t, 2t + 1, 2t + 8, 2t + 9 at 16 g of every 128 dimensions;
// the tails of head dimensions 64 and 96 in shorter pieces.
#pragma once

#include "kernels/common/page_row.h"
#include "kernels/common/scale.h"
#include "kernels/decode/row_limits.h"
#include "kernels/decode/work.h"

namespace kvbudget::kernels {

template <class W, int kDim, ElementType kType>
struct DecodeTiles {
  using U32 = typename W::U32;
  using F32 = typename W::F32;
  using Bool = typename W::Bool;

  static constexpr int kKeyWords = kDim / 16;    ///< of one token, per lane
  static constexpr int kValueWords = kDim / 32;  ///< of one token, per lane
  static constexpr int kSteps = kDim / 16;       ///< of 16 dimensions

  W& w;
  const kvb_decode_args& a;
  DecodeWork work;

  struct Tile {
    U32 keys[2][kKeyWords];      // tokens g, g + 8
    U32 values[4][kValueWords];  // tokens 2t, 2t + 1, 2t + 8, 2t + 9
    F32 key_scales[2];           // tokens g, g + 8
    U32 value_scales[2];         ///< as the bits of a float
  };

  KVB_HD_BODY U32 lane_g() const {
    return w.each([](uint32_t l) { return l >> 2; }, w.lane());
  }
  KVB_HD_BODY U32 lane_t() const {
    return w.each([](uint32_t l) { return l & 3; }, w.lane());
  }

  KVB_HD_BODY bool token_scales() const {
    return a.pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0 ||
           a.pages.scales == KVB_SCALES_TOKEN_HEAD_F32;
  }

  /// Dimensions of a lane's step k: four consecutive ones from here.
  static KVB_HD_BODY uint32_t query_dim(int k, uint32_t t) {
    const bool tail = kDim % 64 != 0 && k >= kDim / 64 * 4;
    const uint32_t base = static_cast<uint32_t>(k / 4 * 64);
    const uint32_t in = static_cast<uint32_t>(k % 4 * 4);
    return tail ? base + 8 * t + in : base + 16 * t + in;
  }

  KVB_HD_BODY void load_queries(uint32_t first, F32 (*x)[4]) {
    const int32_t num_rows = work.num_rows;
    const int32_t group = work.group;
    const int32_t kv_head = work.kv_head;
    const int64_t width = a.query_type == KVB_FLOAT32 ? 4 : 2;
    const int64_t token_stride = a.query_token_stride * width;
    const int64_t head_stride = a.query_head_stride * width;
    const uint64_t base =
        w.address(a.queries) + static_cast<uint64_t>(work.first_query * token_stride);
    const Bool there =
        w.each([=](uint32_t g) { return static_cast<int32_t>(first + g) < num_rows; }, lane_g());
    const bool is_half = a.query_type == KVB_FLOAT16;
    KVB_UNROLL
    for (int k = 0; k < kSteps; ++k) {
      const auto from = w.each(
          [=](uint32_t g, uint32_t t) {
            const auto row = static_cast<int32_t>(first + g);
            const int64_t offset =
                row / group * token_stride + (kv_head * group + row % group) * head_stride;
            return base + static_cast<uint64_t>(offset) + query_dim(k, t) * 2;
          },
          lane_g(), lane_t());
      U32 words[2];
      w.load64(from, there, words);
      KVB_UNROLL
      for (int i = 0; i < 4; ++i) {
        x[k][i] = w.each(
            [=](uint32_t pair) {
              const uint32_t bits = (pair >> (16 * (i & 1))) & 0xffff;
              return is_half ? half_to_float(bits) : bfloat16_to_float(bits);
            },
            words[i / 2]);
      }
    }
  }

  /// Block numbers of this warp's next 32 tiles, one per lane.
  KVB_HD_BODY U32 load_ids(int first, int end) {
    const int32_t* table = a.block_table + work.sequence * a.block_table_stride;
    const int tiles = a.pages.block_tokens / kTileTokens;
    const U32 index = w.each(
        [=](uint32_t l) {
          return static_cast<uint32_t>((first + static_cast<int>(l) * kWarps) / tiles);
        },
        w.lane());
    const Bool there =
        w.each([=](uint32_t l) { return first + static_cast<int>(l) * kWarps < end; }, w.lane());
    return w.load_index(table, index, there);
  }

  KVB_HD_BODY PageRow row_of(int tile, uint32_t block) const {
    return {static_cast<int64_t>(block), work.kv_head, tile * kTileTokens % a.pages.block_tokens};
  }

  KVB_HD_BODY void load_keys(const PageRow& row, Tile* to) {
    const auto* keys = static_cast<const uint8_t*>(a.pages.keys) + row_offset(a.pages, row);
    const auto stride = static_cast<uint32_t>(a.pages.token_stride);
    KVB_UNROLL
    for (int i = 0; i < 2; ++i) load_keys(keys, stride, static_cast<uint32_t>(8 * i), to->keys[i]);
  }

  KVB_HD_BODY void load_values(const PageRow& row, Tile* to) {
    const auto* values = static_cast<const uint8_t*>(a.pages.values) + row_offset(a.pages, row);
    const auto stride = static_cast<uint32_t>(a.pages.token_stride);
    KVB_UNROLL
    for (int i = 0; i < 4; ++i)
      load_values(values, stride, static_cast<uint32_t>(i / 2 * 8 + i % 2), to->values[i]);
  }

  KVB_HD_BODY void load_keys(const uint8_t* base, uint32_t stride, uint32_t first, U32* words) {
    const bool swizzle = a.pages.swizzle != 0;
    KVB_UNROLL
    for (int c = 0; c < kDim / 64; ++c) {
      const U32 offset = w.each(
          [=](uint32_t g, uint32_t t) {
            const uint32_t unit = static_cast<uint32_t>(4 * c) + t;
            return (first + g) * stride + 16 * (swizzle ? layout::swizzled_unit(unit, g) : unit);
          },
          lane_g(), lane_t());
      w.template load_words<4>(base, offset, words + 4 * c);
    }
    if (kDim % 64 != 0) {
      const U32 offset = w.each(
          [=](uint32_t g, uint32_t t) { return (first + g) * stride + kDim / 64 * 64 + 8 * t; },
          lane_g(), lane_t());
      w.template load_words<2>(base, offset, words + kDim / 64 * 4);
    }
  }

  KVB_HD_BODY void load_values(const uint8_t* base, uint32_t stride, uint32_t first, U32* words) {
    const bool swizzle = a.pages.swizzle != 0;
    KVB_UNROLL
    for (int c = 0; c < kDim / 128; ++c) {
      const U32 offset = w.each(
          [=](uint32_t g, uint32_t t) {
            const uint32_t token = first + 2 * t;
            const uint32_t unit = static_cast<uint32_t>(8 * c) + g;
            return token * stride + 16 * (swizzle ? layout::swizzled_unit(unit, token) : unit);
          },
          lane_g(), lane_t());
      w.template load_words<4>(base, offset, words + 4 * c);
    }
    if (kDim % 128 >= 64) {
      const U32 offset =
          w.each([=](uint32_t g, uint32_t t) { return (first + 2 * t) * stride + 8 * g; }, lane_g(),
                 lane_t());
      w.template load_words<2>(base, offset, words);
    }
    if (kDim % 64 != 0) {
      const U32 offset =
          w.each([=](uint32_t g, uint32_t t) { return (first + 2 * t) * stride + 64 + 4 * g; },
                 lane_g(), lane_t());
      w.template load_words<1>(base, offset, words + 2);
    }
  }

  /// The first dimension of a lane's word m of V.
  static KVB_HD_BODY uint32_t value_dim(int m, uint32_t g) {
    if (kDim % 128 == 0) return static_cast<uint32_t>(m / 4 * 128 + m % 4 * 4) + 16 * g;
    return m < 2 ? 8 * g + static_cast<uint32_t>(4 * m) : 64 + 4 * g;
  }

  KVB_HD_BODY void load_scales(const PageRow& row, Tile* to) {
    if (!token_scales()) return;
    const int64_t offset = scale_offset(a.pages, row);
    const auto* keys = static_cast<const uint8_t*>(a.pages.key_scales) + offset;
    const auto* values = static_cast<const uint8_t*>(a.pages.value_scales) + offset;
    const auto stride = static_cast<uint32_t>(a.pages.scale_token_stride);
    const bool bytes = a.pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0;
    KVB_UNROLL
    for (int i = 0; i < 2; ++i) {
      const U32 at =
          w.each([=](uint32_t g) { return (g + static_cast<uint32_t>(8 * i)) * stride; }, lane_g());
      U32 key, value;
      if (bytes) {
        key = w.each([](uint32_t c) { return c << 23; }, w.load_byte(keys, at));
        value = w.each([](uint32_t c) { return c << 23; }, w.load_byte(values, at));
      } else {
        w.template load_words<1>(keys, at, &key);
        w.template load_words<1>(values, at, &value);
      }
      to->key_scales[i] = w.each([](uint32_t b) { return float_of(b); }, key);
      to->value_scales[i] = value;
    }
  }
};

}  // namespace kvbudget::kernels
