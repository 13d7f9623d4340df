// The CPU's decode loop, written once over a vector type and compiled once per instruction set.
//
// A chunk of tokens that fits the first-level cache is taken in three steps by each block of rows:
// - scores: 16-byte pieces of kWidth tokens are transposed as bytes and converted once, so that a
//   vector holds one dimension of kWidth tokens. Each conversion serves all rows of the block, no
//   horizontal sums are needed, and token scales multiply whole vectors.
// - softmax in base 2 with a running maximum.
// - output: a vector holds kWidth dimensions of one token, accumulators stay in registers over the
//   chunk.
// Meanwhile the next chunk is prefetched row by row, evenly over both steps: pages are scattered,
// so the hardware cannot guess them.
#pragma once

#include <math.h>

#include "kernels/common/page_row.h"
#include "kernels/common/scale.h"
#include "kernels/decode/decode_range.h"
#include "kernels/decode/vector_math.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

constexpr int kTile = 16;   // tokens; a tile never crosses a block
constexpr int kChunk = 32;  // tokens: 16 KiB of codes at head dimension 128
constexpr int kTiles = kChunk / kTile;
constexpr int kHalfTile = kTile / 2;
constexpr int kLineBytes = 64;

struct Chunk {
  const uint8_t* keys[kTiles];
  const uint8_t* values[kTiles];
  int begin;  ///< first token
  int count;  ///< tokens, a multiple of kTile
  alignas(64) float key_scales[kChunk];
  alignas(64) float value_scales[kChunk];
};

/// `kDim` is the head dimension of rows that are not swizzled, known when compiling; 0 for any.
template <class V, ElementType kType, int kDim>
struct Loop {
  using F = typename V::F;
  static constexpr int kElementBytes = kType == ElementType::kBFloat16 ? 2 : 1;
  static constexpr int kUnitElements = 16 / kElementBytes;

  /// Plain rows of FP8 by pieces of 64, see load_piece; up to so many query rows take scores token
  /// by token, because then summing up lanes costs less than transposing K.
  static constexpr bool kPieces =
      V::kHasPieces && kType != ElementType::kBFloat16 && kDim > 0 && kDim % 64 == 0;
  static constexpr int kMostDotRows = 2;

  const DecodeRange& r;
  const kvb_pages& pages;
  bool token_scales;

  KVB_HD int dim() const { return kDim > 0 ? kDim : pages.head_dim; }
  KVB_HD bool swizzled() const { return kDim == 0 && pages.swizzle != 0; }

  void load_scales(const void* scales, const PageRow& first, float* to) const {
    const auto* from = static_cast<const uint8_t*>(scales) + scale_offset(pages, first);
    const int64_t stride = pages.scale_token_stride;
    if (pages.scales == KVB_SCALES_TOKEN_HEAD_F32) {
      for (int t = 0; t < kTile; ++t) memcpy(&to[t], from + t * stride, sizeof(float));
    } else if (stride == 1) {
      for (int t = 0; t < kTile; ++t) to[t] = scale_of_code(from[t]);
    } else {
      for (int t = 0; t < kTile; ++t) to[t] = scale_of_code(from[t * stride]);
    }
  }

  PageRow row_of(int token) const {
    return {r.blocks[token / pages.block_tokens], r.head, token % pages.block_tokens};
  }

  void open(int begin, Chunk* chunk) const {
    chunk->begin = begin;
    const int left = r.end - begin;
    chunk->count = left < kChunk ? (left + kTile - 1) / kTile * kTile : kChunk;
    for (int i = 0; i * kTile < chunk->count; ++i) {
      const PageRow row = row_of(begin + i * kTile);
      const int64_t offset = row_offset(pages, row);
      chunk->keys[i] = static_cast<const uint8_t*>(pages.keys) + offset;
      chunk->values[i] = static_cast<const uint8_t*>(pages.values) + offset;
      if (!token_scales) continue;
      load_scales(pages.key_scales, row, chunk->key_scales + i * kTile);
      load_scales(pages.value_scales, row, chunk->value_scales + i * kTile);
    }
  }

  static KVB_HD void fetch_line(const uint8_t* at) {
    constexpr int kSecondLevel = 1;  // the first is full of the chunk at work
    __builtin_prefetch(at, 0, kSecondLevel);
  }

  /// Fetches rows [first, last) of both sides of the tile a chunk ahead of `token`.
  struct Ahead {
    const uint8_t* keys;  ///< null: there is none
    const uint8_t* values;
  };

  Ahead ahead_of(int token) const {
    if (token + kChunk >= r.end) return {nullptr, nullptr};
    const PageRow row = row_of(token + kChunk);
    const int64_t offset = row_offset(pages, row);
    if (token_scales) {
      fetch_line(static_cast<const uint8_t*>(pages.key_scales) + scale_offset(pages, row));
      fetch_line(static_cast<const uint8_t*>(pages.value_scales) + scale_offset(pages, row));
    }
    return {static_cast<const uint8_t*>(pages.keys) + offset,
            static_cast<const uint8_t*>(pages.values) + offset};
  }

  KVB_HD void prefetch_rows(const Ahead& ahead, int first, int last) const {
    prefetch(ahead.keys, first, last);
    prefetch(ahead.values, first, last);
  }

  KVB_HD void prefetch(const uint8_t* side, int first, int last) const {
    const int row_bytes = dim() * kElementBytes;
    for (int t = first; t < last; ++t)
      for (int at = 0; at < row_bytes; at += kLineBytes)
        fetch_line(side + t * pages.token_stride + at);
  }

  /// The scores of kWidth tokens, by dimension: see transpose().
  template <int kRows>
  KVB_HD void transposed(const uint8_t* tile, const float* queries, const Ahead& ahead,
                         F* totals) const {
    constexpr int kChains = kRows >= 8 ? 1 : 8 / kRows > 4 ? 4 : 8 / kRows;
    const int units = dim() / kUnitElements;
    F sums[kRows][kChains];
    for (auto& row : sums)
      for (F& sum : row) sum = V::zero();
    for (int unit = 0; unit < units; ++unit) {
      if (ahead.keys != nullptr) {  // the upper half of its rows, spread over the units
        const int first = unit * kHalfTile / units;
        const int last = (unit + 1) * kHalfTile / units;
        prefetch_rows(ahead, first, last);
      }
      int64_t shift[8];
      shifts(unit, shift);
      const float* q = queries + unit * kUnitElements * kRows;
      V::template transpose<kType>(tile, pages.token_stride, shift, [&](int d, F key) {
        for (int row = 0; row < kRows; ++row) {
          F& sum = sums[row][d % kChains];
          sum = V::fma(key, V::set1(q[d * kRows + row]), sum);
        }
      });
    }
    for (int row = 0; row < kRows; ++row) {
      totals[row] = sums[row][0];
      for (int i = 1; i < kChains; ++i) totals[row] = V::add(totals[row], sums[row][i]);
    }
  }

  /// Lanes' sums of one token's K times a query in the order of pieces.
  KVB_HD F dot(const uint8_t* key, const float* query) const {
    F sums[4];
    for (int piece = 0; piece * 64 < kDim; ++piece) {
      F values[4];
      V::template load_piece<kType>(key + 64 * piece, values);
      for (int v = 0; v < 4; ++v) {
        const F q = V::load(query + 64 * piece + v * V::kWidth);
        sums[v] = piece == 0 ? V::mul(values[v], q) : V::fma(values[v], q, sums[v]);
      }
    }
    return V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3]));
  }

  /// scores[row][token] of kRows rows, masked and with K's scales.
  template <int kRows>
  void score(const Chunk& chunk, const float* queries, int first_row, bool first_block,
             float (*scores)[kChunk], float* largest) const {
    F most[kRows];
    for (int row = 0; row < kRows; ++row) most[row] = V::set1(kLowestScore);
    for (int at = 0; at < chunk.count; at += V::kWidth) {
      const Ahead ahead = first_block && at % kTile == 0 ? ahead_of(chunk.begin + at) : Ahead{};
      const uint8_t* tile = chunk.keys[at / kTile] + at % kTile * pages.token_stride;
      F totals[kRows];
      if constexpr (kPieces && kRows <= kMostDotRows) {
        for (int row = 0; row < kRows; ++row) {
          const bool fetch = ahead.keys != nullptr && row == 0;
          totals[row] = V::sums([&](int t) {
            if (fetch && t < kHalfTile) prefetch_rows(ahead, t, t + 1);
            return dot(tile + t * pages.token_stride, queries + row * kDim);
          });
        }
      } else {
        transposed<kRows>(tile, queries, ahead, totals);
      }
      for (int row = 0; row < kRows; ++row) {
        F score = totals[row];
        if (token_scales) score = V::mul(score, V::load(chunk.key_scales + at));
        if (r.soft_cap > 0.f) score = soften<V>(score, r.soft_cap);
        score = mask(score, chunk.begin + at, first_row + row);
        most[row] = V::max(most[row], score);
        V::store(scores[row] + at, score);
      }
    }
    for (int row = 0; row < kRows; ++row) largest[row] = V::largest(most[row]);
  }

  KVB_HD F mask(F score, int token, int row) const {
    if (row >= r.num_rows) return score;
    const int low = r.first_token[row] - token;
    const int high = r.limit_token[row] - token;
    if (low <= 0 && high >= V::kWidth) return score;
    return V::keep(score, low, high, V::set1(-INFINITY));
  }

  /// Where a unit lies in the rows of 8 consecutive tokens.
  KVB_HD void shifts(int unit, int64_t* shift) const {
    for (int t = 0; t < 8; ++t) {
      const auto plain = static_cast<uint32_t>(unit);
      const uint32_t at =
          swizzled() ? layout::swizzled_unit(plain, static_cast<uint32_t>(t)) : plain;
      shift[t] = 16 * static_cast<int64_t>(at);
    }
  }

  /// output[row] = output[row] x factor + weights[row] x V, for kVectors vectors of dimensions.
  template <int kRows, int kVectors>
  void accumulate_slice(const Chunk& chunk, const float (*weights)[kChunk], const float* factors,
                        int low, int high, int first_dim, bool fetch, float* output) const {
    F sums[kRows][kVectors];
    for (int row = 0; row < kRows; ++row) {
      const F factor = V::set1(factors[row]);
      for (int v = 0; v < kVectors; ++v)
        sums[row][v] = V::mul(factor, V::load(output + row * dim() + first_dim + v * V::kWidth));
    }
    for (int at = low; at < high;) {
      const int tile = at / kTile;
      const int tile_end = (tile + 1) * kTile < high ? (tile + 1) * kTile : high;
      const Ahead ahead = fetch ? ahead_of(chunk.begin + tile * kTile) : Ahead{};
      const uint8_t* values = chunk.values[tile];
      for (; at < tile_end; ++at) {
        const auto token = static_cast<uint32_t>(at % kTile);
        if (ahead.keys != nullptr) {  // the lower half of its rows, a side at a time
          const int row = kHalfTile + at % kTile / 2;
          prefetch(at % 2 == 0 ? ahead.keys : ahead.values, row, row + 1);
        }
        const uint8_t* row_values = values + token * pages.token_stride;
        F value[kVectors];
        if constexpr (kPieces && kVectors % 4 == 0) {
          for (int v = 0; v < kVectors; v += 4)
            V::template load_piece<kType>(row_values + first_dim + v * V::kWidth, value + v);
        }
        for (int v = 0; v < kVectors && !(kPieces && kVectors % 4 == 0); v += 2) {
          // NOTE: 32-byte pieces at a time stay whole in a swizzled row.
          const auto unit = static_cast<uint32_t>((first_dim + v * V::kWidth) / kUnitElements);
          const uint32_t to = swizzled() ? layout::swizzled_unit(unit, token) : unit;
          V::template load_pair<kType>(row_values + 16 * to, &value[v], &value[v + 1]);
        }
        for (int row = 0; row < kRows; ++row) {
          const F weight = V::set1(weights[row][at]);
          for (int v = 0; v < kVectors; ++v) sums[row][v] = V::fma(weight, value[v], sums[row][v]);
        }
      }
    }
    for (int row = 0; row < kRows; ++row)
      for (int v = 0; v < kVectors; ++v)
        V::store(output + row * dim() + first_dim + v * V::kWidth, sums[row][v]);
  }

  template <int kRows, int kVectors>
  void accumulate(const Chunk& chunk, const float (*weights)[kChunk], const float* factors, int low,
                  int high, bool first_block, float* output) const {
    for (int first = 0; first < dim(); first += kVectors * V::kWidth)
      accumulate_slice<kRows, kVectors>(chunk, weights, factors, low, high, first,
                                        first_block && first == 0, output);
  }

  /// How many vectors of a row of V share a pass: what the registers hold beside those of all rows.
  static constexpr int wide_vectors(int rows) {
    return V::kMaxRows * 2 / rows > 8 ? 8 : V::kMaxRows * 2 / rows;
  }

  template <int kRows>
  void take(const Chunk& chunk, const float* queries, int first_row, bool first_block,
            int padded_row) const {
    alignas(64) float weights[kRows][kChunk];
    float largest[kRows], factors[kRows];
    score<kRows>(chunk, queries, first_row, first_block, weights, largest);
    int low = chunk.count;
    int high = 0;
    for (int row = 0; row < kRows; ++row) {
      factors[row] = to_weights<V>(weights[row], chunk.count, largest[row],
                                   r.row_max + padded_row + row, r.row_sum + padded_row + row);
      if (token_scales) {
        for (int at = 0; at < chunk.count; at += V::kWidth)
          V::store(weights[row] + at,
                   V::mul(V::load(weights[row] + at), V::load(chunk.value_scales + at)));
      }
      if (first_row + row >= r.num_rows) continue;
      const int from = r.first_token[first_row + row] - chunk.begin;
      const int to = r.limit_token[first_row + row] - chunk.begin;
      low = from < low ? from : low;
      high = to > high ? to : high;
    }
    low = low < 0 ? 0 : low;
    high = high > chunk.count ? chunk.count : high;
    // Rows of V outside of what any query sees may hold anything, NaN too: they are not read.
    float* output = r.output + padded_row * dim();
    constexpr int kWide = wide_vectors(kRows);
    if (dim() % (kWide * V::kWidth) == 0) {
      accumulate<kRows, kWide>(chunk, weights, factors, low, high, first_block, output);
    } else {
      constexpr int kNarrow = kWide < 4 || V::kWidth * 4 > 32 ? 2 : 4;
      accumulate<kRows, kNarrow>(chunk, weights, factors, low, high, first_block, output);
    }
  }

  /// Where place `at` of a row in the loop's own order lies: `kVectors` is accumulate()'s.
  static constexpr int dim_of(int at, bool pieces) {
    const int lane = at % V::kWidth;
    if (pieces) return at / 64 * 64 + V::piece_element(at % 64 / V::kWidth, lane);
    return at / (2 * V::kWidth) * (2 * V::kWidth) + 2 * lane + at / V::kWidth % 2;
  }

  /// Brings an output that was summed in the loop's own order into that of dimensions.
  void put_in_order(float* output, bool pieces) const {
    float ordered[256];
    for (int at = 0; at < dim(); ++at) ordered[dim_of(at, pieces)] = output[at];
    memcpy(output, ordered, static_cast<size_t>(dim()) * sizeof(float));
  }

  /// Queries [rows, dim] in the order of pieces from [dim, rows].
  void order_queries(const float* from, int rows, float* to) const {
    for (int row = 0; row < rows; ++row)
      for (int at = 0; at < kDim; ++at) to[row * kDim + at] = from[dim_of(at, true) * rows + row];
  }

  void run() const {
    Chunk chunk;
    alignas(64) float ordered[kPieces ? kMostDotRows * kDim : 1];
    for (int begin = r.begin; begin < r.end; begin += kChunk) {
      open(begin, &chunk);
      each_block([&](const float* queries, int row, int rows, int padded) {
        if constexpr (kPieces) {
          if (rows <= kMostDotRows) {  // the last block, if any
            if (begin == r.begin) order_queries(queries, rows, ordered);
            queries = ordered;
          }
        }
        if constexpr (V::kMaxRows >= 8) {
          if (rows == 8) take<8>(chunk, queries, row, row == 0, padded);
        }
        if (rows == 4) take<4>(chunk, queries, row, row == 0, padded);
        if (rows == 2) take<2>(chunk, queries, row, row == 0, padded);
        if (rows == 1) take<1>(chunk, queries, row, row == 0, padded);
      });
    }
    if constexpr (V::kInterleaved) {
      each_block([&](const float*, int, int rows, int padded) {
        for (int row = padded; row < padded + rows; ++row)
          put_in_order(r.output + row * dim(), kPieces && wide_vectors(rows) % 4 == 0);
      });
    }
  }

  /// work(queries, first row, rows, padded row) for each block of rows.
  template <typename Work>
  KVB_HD void each_block(const Work& work) const {
    const float* queries = r.queries;
    int padded = 0;
    for (int row = 0; row < r.num_rows;) {
      const int rows = rows_in_block(r.num_rows - row, V::kMaxRows);
      work(queries, row, rows, padded);
      queries += rows * dim();
      row += rows;
      padded += rows;
    }
  }
};

template <class V, ElementType kType>
static void run_type(const DecodeRange& range) {
  const kvb_pages& pages = *range.pages;
  const bool token_scales =
      pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0 || pages.scales == KVB_SCALES_TOKEN_HEAD_F32;
  if (pages.head_dim == 128 && pages.swizzle == 0)
    Loop<V, kType, 128>{range, pages, token_scales}.run();
  else
    Loop<V, kType, 0>{range, pages, token_scales}.run();
}

template <class V>
static void run_loop(const DecodeRange& range) {
  if (range.pages->type == KVB_BFLOAT16)
    run_type<V, ElementType::kBFloat16>(range);
  else if (range.pages->type == KVB_FLOAT8_E5M2)
    run_type<V, ElementType::kFloat8E5M2>(range);
  else
    run_type<V, ElementType::kFloat8E4M3>(range);
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
