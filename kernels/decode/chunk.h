// Where the rows of a chunk of tokens lie, and the fetching of the one that comes next: part of the
// CPU's decode loop, see decode_loop.h.
#pragma once

#include "kernels/common/page_row.h"
#include "kernels/common/scale.h"
#include "kernels/decode/decode_range.h"
#include "kernels/layout/kv_page.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

constexpr int kTile = 16;   // tokens; a tile never crosses a block
constexpr int kChunk = 32;  // tokens: 8 KiB of codes at head dimension 128
constexpr int kTiles = kChunk / kTile;
constexpr int kLineBytes = 64;

struct Chunk {
  const uint8_t* keys[kTiles];
  const uint8_t* values[kTiles];
  int begin;                             ///< first token
  int count;                             ///< tokens, a multiple of kTile
  alignas(64) float key_scales[kChunk];  ///< times what scores are multiplied by
  alignas(64) float value_scales[kChunk];
};

/// Where a tile begins, for all heads.
struct Place {
  int32_t block;
  int32_t token;  ///< in its block
};

/// A tile's rows, to be fetched while another is at work.
struct Ahead {
  const uint8_t* keys;  ///< null: there is none
  const uint8_t* values;
};

/// The head dimension is known when compiling if `kDim` is not 0; rows are not swizzled then.
template <ElementType kType, int kDim>
struct Pages {
  static constexpr int kElementBytes = kType == ElementType::kBFloat16 ? 2 : 1;
  static constexpr int kUnitElements = 16 / kElementBytes;

  const kvb_pages& p;
  const int32_t* blocks;
  bool token_scales;

  KVB_HD int dim() const { return kDim > 0 ? kDim : p.head_dim; }
  KVB_HD bool swizzled() const { return kDim == 0 && p.swizzle != 0; }

  Place place_of(int token) const {
    return {blocks[token / p.block_tokens], token % p.block_tokens};
  }

  void load_scales(const void* scales, const PageRow& first, float factor, float* to) const {
    const auto* from = static_cast<const uint8_t*>(scales) + scale_offset(p, first);
    const int64_t stride = p.scale_token_stride;
    if (p.scales == KVB_SCALES_TOKEN_HEAD_F32) {
      for (int t = 0; t < kTile; ++t) memcpy(&to[t], from + t * stride, sizeof(float));
    } else if (stride == 1) {
      for (int t = 0; t < kTile; ++t) to[t] = scale_of_code(from[t]);
    } else {
      for (int t = 0; t < kTile; ++t) to[t] = scale_of_code(from[t * stride]);
    }
    for (int t = 0; t < kTile; ++t) to[t] *= factor;
  }

  void open(const DecodeRange& r, const Place* places, Chunk* chunk) const {
    for (int i = 0; i * kTile < chunk->count; ++i) {
      const PageRow row{places[i].block, r.head, places[i].token};
      const int64_t offset = row_offset(p, row);
      chunk->keys[i] = static_cast<const uint8_t*>(p.keys) + offset;
      chunk->values[i] = static_cast<const uint8_t*>(p.values) + offset;
      if (!token_scales) continue;
      load_scales(p.key_scales, row, r.score_scale, chunk->key_scales + i * kTile);
      load_scales(p.value_scales, row, 1.f, chunk->value_scales + i * kTile);
    }
  }

  static KVB_HD void fetch_line(const uint8_t* at) {
    constexpr int kSecondLevel = 2;  // the first is full of the chunk at work
    __builtin_prefetch(at, 0, kSecondLevel);
  }

  Ahead ahead_of(const Place& place, int head) const {
    const PageRow row{place.block, head, place.token};
    const int64_t offset = row_offset(p, row);
    if (token_scales) {
      fetch_line(static_cast<const uint8_t*>(p.key_scales) + scale_offset(p, row));
      fetch_line(static_cast<const uint8_t*>(p.value_scales) + scale_offset(p, row));
    }
    return {static_cast<const uint8_t*>(p.keys) + offset,
            static_cast<const uint8_t*>(p.values) + offset};
  }

  /// Rows [first, last) of both sides.
  KVB_HD void fetch(const Ahead& ahead, int first, int last) const {
    const int row_bytes = dim() * kElementBytes;
    for (int t = first; t < last; ++t) {
      for (int at = 0; at < row_bytes; at += kLineBytes) {
        fetch_line(ahead.keys + t * p.token_stride + at);
        fetch_line(ahead.values + t * p.token_stride + at);
      }
    }
  }

  /// Where a unit lies in the rows of 8 consecutive tokens.
  KVB_HD void shifts(int unit, int64_t* shift) const {
    for (uint32_t t = 0; t < 8; ++t) shift[t] = unit_offset(unit, t);
  }

  KVB_HD int64_t unit_offset(int unit, uint32_t token) const {
    const auto plain = static_cast<uint32_t>(unit);
    return 16 * static_cast<int64_t>(swizzled() ? layout::swizzled_unit(plain, token) : plain);
  }
};

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
