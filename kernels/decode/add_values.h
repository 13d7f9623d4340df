// Weighted sums of V for a block of query rows: part of the CPU's decode loop, see decode_loop.h.
// Accumulators of some dimensions of all rows stay in registers over a chunk.
#pragma once

#include "kernels/decode/chunk.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

/// Stands for a row of V that no query sees: what is stored there may be NaN.
alignas(64) static constexpr uint8_t kZeroRow[512] = {};

/// A block's weights over a chunk; their parts where a vector type multiplies narrower numbers.
template <class V, int kRows>
struct Weights {
  alignas(64) float all[kRows][kChunk];
  alignas(64) float parts[V::kValueTokens == 2 ? kRows : 1][2][kChunk / 2];

  /// The token that makes a pair with the first or last one seen weighs nothing; its scale may have
  /// been anything.
  void split(int low, int high, int count) {
    for (int row = 0; row < kRows; ++row) {
      if (low % 2 != 0) all[row][low - 1] = 0.f;
      if (high % 2 != 0) all[row][high] = 0.f;
      for (int at = 0; at < count; at += V::kWidth)
        V::split_weights(all[row] + at, parts[row][0] + at / 2, parts[row][1] + at / 2);
    }
  }
};

template <class V, ElementType kType, int kDim>
struct AddValues {
  using F = typename V::F;
  using Rows = Pages<kType, kDim>;
  /// Elements of a row that load_piece takes at once, vectors that it gives.
  static constexpr int kPiece = V::template kPieceElements<kType>;
  static constexpr int kPieceVectors = kPiece / V::kWidth;

  /// How many vectors of a row share a pass: what the registers hold beside those of all rows.
  static constexpr int wide_vectors(int rows) {
    return V::kMaxRows * 2 / rows > 8 ? 8 : V::kMaxRows * 2 / rows;
  }
  static constexpr bool in_pieces(int rows) {
    return kDim > 0 && kDim % kPiece == 0 && wide_vectors(rows) % kPieceVectors == 0;
  }

  const Rows& pages;
  const Chunk& chunk;
  int low, high;  ///< the chunk's tokens that any row sees

  /// output[row] = output[row] x factor + weights[row] x V.
  template <int kRows>
  void add(const Weights<V, kRows>& weights, const float* factors, float* output) const {
    constexpr int kWide = wide_vectors(kRows);
    constexpr int kNarrow = kWide < 4 || V::kWidth * 4 > 32 ? 2 : 4;
    if (pages.dim() % (kWide * V::kWidth) == 0)
      for (int at = 0; at < pages.dim(); at += kWide * V::kWidth)
        add_slice<kRows, kWide>(weights, factors, at, output);
    else
      for (int at = 0; at < pages.dim(); at += kNarrow * V::kWidth)
        add_slice<kRows, kNarrow>(weights, factors, at, output);
  }

  /// Brings an output that was summed in the loop's own order into that of dimensions.
  static void put_in_order(float* output, int dim, int rows) {
    float ordered[256];
    for (int at = 0; at < dim; ++at) ordered[dim_of(at, in_pieces(rows))] = output[at];
    memcpy(output, ordered, static_cast<size_t>(dim) * sizeof(float));
  }

 private:
  static constexpr int dim_of(int at, bool pieces) {
    const int lane = at % V::kWidth;
    if (pieces)
      return at / kPiece * kPiece +
             V::template key_element<kType>(at % kPiece / V::kWidth, lane, 0);
    return at / (2 * V::kWidth) * (2 * V::kWidth) + 2 * lane + at / V::kWidth % 2;
  }

  /// work(token, its row) for every `step`-th token from `first` to `high`; rows are not looked up
  /// but follow each other within a tile.
  template <int step, typename Work>
  KVB_HD void each_row(int first, const Work& work) const {
    const int64_t stride = pages.p.token_stride;
    for (int at = first; at < high;) {
      const int tile_end = at / kTile * kTile + kTile;
      const int end = tile_end < high ? tile_end : high;
      const uint8_t* row = chunk.values[at / kTile] + at % kTile * stride;
      for (; at < end; at += step, row += step * stride) work(at, row);
    }
  }

  template <int kRows, int kVectors>
  void add_slice(const Weights<V, kRows>& weights, const float* factors, int first_dim,
                 float* output) const {
    F sums[kRows][kVectors];
    for (int row = 0; row < kRows; ++row) {
      const F factor = V::set1(factors[row]);
      for (int v = 0; v < kVectors; ++v)
        sums[row][v] =
            V::mul(factor, V::load(output + row * pages.dim() + first_dim + v * V::kWidth));
    }
    if constexpr (V::kValueTokens == 2)
      sum_pairs<kRows, kVectors>(weights, first_dim, sums);
    else
      sum_tokens<kRows, kVectors>(weights, first_dim, sums);
    for (int row = 0; row < kRows; ++row)
      for (int v = 0; v < kVectors; ++v)
        V::store(output + row * pages.dim() + first_dim + v * V::kWidth, sums[row][v]);
  }

  template <int kRows, int kVectors>
  KVB_HD void sum_tokens(const Weights<V, kRows>& weights, int first_dim,
                         F (*sums)[kVectors]) const {
    each_row<1>(low, [&](int at, const uint8_t* from) {
      F value[kVectors];
      load_values<kRows, kVectors>(from, static_cast<uint32_t>(at % kTile), first_dim, value);
      for (int row = 0; row < kRows; ++row) {
        const F weight = V::set1(weights.all[row][at]);
        for (int v = 0; v < kVectors; ++v) sums[row][v] = V::fma(weight, value[v], sums[row][v]);
      }
    });
  }

  template <int kRows, int kVectors>
  KVB_HD void load_values(const uint8_t* from, uint32_t token, int first_dim, F* value) const {
    if constexpr (in_pieces(kRows) && kVectors % kPieceVectors == 0) {
      for (int v = 0; v < kVectors; v += kPieceVectors)
        V::template load_piece<kType>(from + (first_dim + v * V::kWidth) * Rows::kElementBytes,
                                      value + v);
    } else {
      for (int v = 0; v < kVectors; v += 2) {
        // NOTE: 32-byte pieces at a time stay whole in a swizzled row.
        const int unit = (first_dim + v * V::kWidth) / Rows::kUnitElements;
        V::template load_pair<kType>(from + pages.unit_offset(unit, token), &value[v],
                                     &value[v + 1]);
      }
    }
  }

  /// Two tokens at a time; weights are sums of two narrower numbers.
  template <int kRows, int kVectors>
  KVB_HD void sum_pairs(const Weights<V, kRows>& weights, int first_dim,
                        F (*sums)[kVectors]) const {
    each_row<2>(low / 2 * 2, [&](int at, const uint8_t* from) {
      const uint8_t* first = at >= low ? from : kZeroRow;
      const uint8_t* second = at + 1 < high ? from + pages.p.token_stride : kZeroRow;
      F value[kVectors];
      for (int v = 0; v < kVectors; v += 2) {
        const int unit = (first_dim + v * V::kWidth) / Rows::kUnitElements;
        const auto token = static_cast<uint32_t>(at % kTile);
        V::template load_token_pair<kType>(first + pages.unit_offset(unit, token),
                                           second + pages.unit_offset(unit, token + 1), value + v);
      }
      for (int row = 0; row < kRows; ++row) {
        for (const auto& part : weights.parts[row]) {
          const F weight = V::set1(part[at / 2]);
          for (int v = 0; v < kVectors; ++v)
            sums[row][v] = V::multiply_keys(value[v], weight, sums[row][v]);
        }
      }
    });
  }
};

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
