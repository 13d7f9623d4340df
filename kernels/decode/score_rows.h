// Scores of kWidth tokens for a block of query rows: part of the CPU's decode loop, see
// decode_loop.h. An operand of K is a vector of V::kKeyElements dimensions per lane.
//
// - By dimension: 16-byte units of kWidth tokens are transposed as bytes and converted once, so
// that
//   an operand holds the same dimensions of kWidth tokens; no horizontal sums are needed.
// - Token by token, for few rows: operands hold dimensions of one token as they come, and summing
// up
//   lanes costs less than transposing.
#pragma once

#include "kernels/decode/chunk.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

template <class V, ElementType kType, int kDim>
struct ScoreRows {
  using F = typename V::F;
  using Rows = Pages<kType, kDim>;
  static constexpr int kPiece = V::template kPieceElements<kType>;
  static constexpr int kPieceVectors = kPiece / (V::kWidth * V::kKeyElements);

  static constexpr bool by_token(int rows) {
    return kDim > 0 && kDim % kPiece == 0 && rows <= V::kMostDotRows;
  }

  /// totals[row] of the tokens from `tile` on; fetches rows [first, first + kWidth) of `ahead`.
  template <int kRows>
  static KVB_HD void score(const Rows& pages, const uint8_t* tile, const float* queries,
                           const Ahead& ahead, int first, F* totals) {
    if constexpr (by_token(kRows))
      score_by_token<kRows>(pages, tile, queries, ahead, first, totals);
    else
      score_by_dimension<kRows>(pages, tile, queries, ahead, first, totals);
  }

  /// Queries [rows, dim] in the order that score() takes.
  static void order(const float* from, int dim, int rows, float* to) {
    constexpr int e = V::kKeyElements;
    for (int row = 0; row < rows; ++row) {
      for (int at = 0; at < dim / e; ++at) {
        float elements[e];
        for (int i = 0; i < e; ++i)
          elements[i] = from[row * dim + (by_token(rows) ? piece_dim(at, i) : at * e + i)];
        to[by_token(rows) ? row * dim / e + at : at * rows + row] = V::join_elements(elements);
      }
    }
  }

 private:
  static constexpr int piece_dim(int at, int element) {
    const int in_piece = at % (kPieceVectors * V::kWidth);
    return at / (kPieceVectors * V::kWidth) * kPiece +
           V::template key_element<kType>(in_piece / V::kWidth, in_piece % V::kWidth, element);
  }

  template <int kRows>
  static KVB_HD void score_by_dimension(const Rows& pages, const uint8_t* tile,
                                        const float* queries, const Ahead& ahead, int first,
                                        F* totals) {
    constexpr int kChains = kRows >= 8 ? 1 : 8 / kRows > 4 ? 4 : 8 / kRows;
    constexpr int kOperands = Rows::kUnitElements / V::kKeyElements;
    const int units = pages.dim() / Rows::kUnitElements;
    F sums[kRows][kChains];
    for (auto& row : sums)
      for (F& sum : row) sum = V::zero();
    for (int unit = 0; unit < units; ++unit) {
      if (ahead.keys != nullptr)
        pages.fetch(ahead, first + unit * V::kWidth / units,
                    first + (unit + 1) * V::kWidth / units);
      int64_t shift[8];
      pages.shifts(unit, shift);
      const float* q = queries + unit * kOperands * kRows;
      V::template transpose<kType>(tile, pages.p.token_stride, shift, [&](int d, F key) {
        for (int row = 0; row < kRows; ++row) {
          F& sum = sums[row][d % kChains];
          sum = V::multiply_keys(key, V::set1(q[d * kRows + row]), sum);
        }
      });
    }
    for (int row = 0; row < kRows; ++row) {
      totals[row] = sums[row][0];
      for (int i = 1; i < kChains; ++i) totals[row] = V::add(totals[row], sums[row][i]);
    }
  }

  template <int kRows>
  static KVB_HD void score_by_token(const Rows& pages, const uint8_t* tile, const float* queries,
                                    const Ahead& ahead, int first, F* totals) {
    const auto visit = [&](int t) {
      if (ahead.keys != nullptr) pages.fetch(ahead, first + t, first + t + 1);
      return tile + t * pages.p.token_stride;
    };
    if constexpr (kRows == 1) {
      totals[0] = V::sums([&](int t) {
        F sum[1];
        dot<1>(visit(t), queries, sum);
        return sum[0];
      });
    } else {
      F sums[V::kWidth][kRows];
      for (int t = 0; t < V::kWidth; ++t) dot<kRows>(visit(t), queries, sums[t]);
      for (int row = 0; row < kRows; ++row)
        totals[row] = V::sums([&](int t) { return sums[t][row]; });
    }
  }

  /// Lanes' sums of one token's K times each query.
  template <int kRows>
  static KVB_HD void dot(const uint8_t* key, const float* queries, F* totals) {
    constexpr int kChains = kRows == 1 ? 4 : 2;
    constexpr int kQuery = kDim / V::kKeyElements;
    F sums[kRows][kChains];
    for (auto& row : sums)
      for (F& sum : row) sum = V::zero();
    for (int at = 0; at < kDim; at += kPiece) {
      F keys[kPieceVectors];
      V::template load_keys<kType>(key + at * Rows::kElementBytes, keys);
      for (int v = 0; v < kPieceVectors; ++v) {
        for (int row = 0; row < kRows; ++row) {
          const F q = V::load(queries + row * kQuery + at / V::kKeyElements + v * V::kWidth);
          F& sum = sums[row][(at / kPiece * kPieceVectors + v) % kChains];
          sum = V::multiply_keys(keys[v], q, sum);
        }
      }
    }
    for (int row = 0; row < kRows; ++row) {
      if constexpr (kChains == 4)
        totals[row] =
            V::add(V::add(sums[row][0], sums[row][1]), V::add(sums[row][2], sums[row][3]));
      else
        totals[row] = V::add(sums[row][0], sums[row][1]);
    }
  }
};

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
