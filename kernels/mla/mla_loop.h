// MLA's decode loop, written once over a vector type and compiled once per instruction set.
//
// With 128 heads over 656 bytes a token this is bound by arithmetic, 425 FLOP a byte, so a tile of
// 16 tokens is widened to floats once, 36 KiB that stay in the second-level cache, and serves all
// rows twice: as keys of 576 values and, its first 512, as values. Scores are dot products of
// rows and tokens four by four, outputs sums over the tile's tokens in registers.
// Widened elements stand in the order that the conversion leaves them in (dim_at); queries come in
// that order too, and outputs leave it at the end.
#pragma once

#include <math.h>

#include "kernels/decode/decode_range.h"
#include "kernels/decode/vector_math.h"
#include "kernels/layout/kv_page.h"
#include "kernels/mla/mla_range.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

template <class V>
struct MlaRows {
  using F = typename V::F;
  using Mla = layout::MlaToken;
  static constexpr int kTile = 16;
  static constexpr int kQuad = 4;  ///< tokens whose scores of a row are summed up together
  static constexpr int kPair = 2 * V::kWidth;
  static constexpr int kRope = static_cast<int>(Mla::kLatent);

  const MlaRange& r;
  float (*tile)[kMlaKeyDim];  // [kTile]

  static int dim_at(int at) {
    if (!V::kInterleaved) return at;
    const int lane = at % V::kWidth;
    return at / kPair * kPair + 2 * lane + at / V::kWidth % 2;
  }

  const uint8_t* entry(int token) const {
    return r.cache + r.blocks[token / r.block_tokens] * r.block_stride +
           token % r.block_tokens * r.token_stride;
  }

  static KVB_HD void widen_entry(const uint8_t* from, float* to) {
    F x, y;
    for (int at = 0; at < kRope; at += kPair) {
      float scale;
      memcpy(&scale, from + Mla::kScalesOffset + at / static_cast<int>(Mla::kTile) * 4, 4);
      const F factor = V::set1(scale * V::kE4Scale);
      V::template load_pair<ElementType::kFloat8E4M3>(from + at, &x, &y);
      V::store(to + at, V::mul(x, factor));
      V::store(to + at + V::kWidth, V::mul(y, factor));
    }
    for (int at = kRope; at < kMlaKeyDim; at += kPair) {
      V::template load_pair<ElementType::kBFloat16>(from + Mla::kRopeOffset + 2 * (at - kRope), &x,
                                                    &y);
      V::store(to + at, x);
      V::store(to + at + V::kWidth, y);
    }
  }

  /// Places without a token become zeros: a weight of 0 times what stood there could be NaN.
  void widen(int begin, int count) const {
    for (int t = 0; t < kTile; ++t) {
      if (t < count)
        widen_entry(entry(begin + t), tile[t]);
      else
        memset(tile[t], 0, sizeof tile[t]);
    }
  }

  /// scores[row][tokens at to at + 3] of kRows rows.
  template <int kRows>
  KVB_HD void score(const float* queries, int at, float (*scores)[kTile]) const {
    F sums[kRows][kQuad];
    for (auto& row : sums)
      for (F& sum : row) sum = V::zero();
    for (int d = 0; d < kMlaKeyDim; d += V::kWidth) {
      F keys[kQuad];
      for (int t = 0; t < kQuad; ++t) keys[t] = V::load(tile[at + t] + d);
      for (int row = 0; row < kRows; ++row) {
        const F query = V::load(queries + row * kMlaKeyDim + d);
        for (int t = 0; t < kQuad; ++t) sums[row][t] = V::fma(query, keys[t], sums[row][t]);
      }
    }
    for (int row = 0; row < kRows; ++row)
      V::store_sums(sums[row][0], sums[row][1], sums[row][2], sums[row][3], scores[row] + at);
  }

  /// Hides the tokens that a row does not see; returns its largest score.
  KVB_HD float mask(float* scores, int begin, int row) const {
    const int seen = row < r.num_rows ? r.limit_token[row] - begin : kTile;
    F most = V::set1(kLowestScore);
    for (int at = 0; at < kTile; at += V::kWidth) {
      const F score = V::keep(V::load(scores + at), 0, seen - at, V::set1(-INFINITY));
      most = V::max(most, score);
      V::store(scores + at, score);
    }
    return V::largest(most);
  }

  template <int kRows>
  KVB_HD void accumulate(const float (*weights)[kTile], const float* factors, int padded) const {
    float* output = r.output + padded * kMlaValueDim;
    for (int d = 0; d < kMlaValueDim; d += kPair) {
      F sums[kRows][2];
      for (int row = 0; row < kRows; ++row) {
        const F factor = V::set1(factors[row]);
        for (int v = 0; v < 2; ++v)
          sums[row][v] = V::mul(factor, V::load(output + row * kMlaValueDim + d + v * V::kWidth));
      }
      for (int t = 0; t < kTile; ++t) {
        const F low = V::load(tile[t] + d);
        const F high = V::load(tile[t] + d + V::kWidth);
        for (int row = 0; row < kRows; ++row) {
          const F weight = V::set1(weights[row][t]);
          sums[row][0] = V::fma(weight, low, sums[row][0]);
          sums[row][1] = V::fma(weight, high, sums[row][1]);
        }
      }
      for (int row = 0; row < kRows; ++row)
        for (int v = 0; v < 2; ++v)
          V::store(output + row * kMlaValueDim + d + v * V::kWidth, sums[row][v]);
    }
  }

  template <int kRows>
  void take(int begin, int first_row, int padded) const {
    constexpr int kScored = kRows < V::kMaxRows / 2 ? kRows : V::kMaxRows / 2;
    alignas(64) float weights[kRows][kTile];
    const float* queries = r.queries + padded * kMlaKeyDim;
    for (int row = 0; row < kRows; row += kScored)
      for (int at = 0; at < kTile; at += kQuad)
        score<kScored>(queries + row * kMlaKeyDim, at, weights + row);
    float factors[kRows];
    for (int row = 0; row < kRows; ++row) {
      const float largest = mask(weights[row], begin, first_row + row);
      factors[row] = to_weights<V>(weights[row], kTile, largest, r.row_max + padded + row,
                                   r.row_sum + padded + row);
    }
    accumulate<kRows>(weights, factors, padded);
  }

  void put_in_order(float* output) const {
    float ordered[kMlaValueDim];
    for (int at = 0; at < kMlaValueDim; ++at) ordered[dim_at(at)] = output[at];
    memcpy(output, ordered, sizeof ordered);
  }

  void run() const {
    int padded = 0;
    for (int begin = r.begin; begin < r.end; begin += kTile) {
      widen(begin, r.end - begin < kTile ? r.end - begin : kTile);
      padded = 0;
      for (int row = 0; row < r.num_rows;) {
        const int rows = rows_in_block(r.num_rows - row, V::kMaxRows);
        if constexpr (V::kMaxRows >= 8) {
          if (rows == 8) take<8>(begin, row, padded);
        }
        if (rows == 4) take<4>(begin, row, padded);
        if (rows == 2) take<2>(begin, row, padded);
        if (rows == 1) take<1>(begin, row, padded);
        row += rows;
        padded += rows;
      }
    }
    if (V::kInterleaved)
      for (int row = 0; row < padded; ++row) put_in_order(r.output + row * kMlaValueDim);
  }
};

template <class V>
static void run_mla_loop(const MlaRange& range) {
  alignas(64) float tile[MlaRows<V>::kTile][kMlaKeyDim];
  MlaRows<V>{range, tile}.run();
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
