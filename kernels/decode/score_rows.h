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

  /// Tokens that a step takes: kWidth, or twice as many if they are there.
  template <int kRows>
  static constexpr int kStep = by_token(kRows) ? V::kWidth : V::kWidth* V::kGroups;

  /// Where the tokens of a step begin, group by group, and what to fetch meanwhile: rows
  /// [first, first + kWidth) of each `ahead`.
  struct Step {
    const uint8_t* tiles[V::kGroups];
    Ahead ahead[V::kGroups];
    int first;
  };

  /// totals[group][row].
  template <int kRows, int kGroups>
  static KVB_HD void score(const Rows& pages, const Step& step, const float* queries,
                           F (*totals)[kRows]) {
    if constexpr (by_token(kRows))
      score_by_token<kRows>(pages, step, queries, totals[0]);
    else
      score_by_dimension<kRows, kGroups>(pages, step, queries, totals);
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

  /// Not inlined: among other values the sums would not keep their registers.
  template <int kRows, int kGroups>
  static __attribute__((noinline)) void score_by_dimension(const Rows& pages, const Step& step,
                                                           const float* queries,
                                                           F (*totals)[kRows]) {
    constexpr int kSums = kRows * kGroups;
    constexpr int kChains = kSums >= 8 ? 1 : 8 / kSums > 4 ? 4 : 8 / kSums;
    constexpr int kOperands = Rows::kUnitElements / V::kKeyElements;
    const int units = pages.dim() / Rows::kUnitElements;
    const int64_t stride = pages.p.token_stride;
    F sums[kGroups][kRows][kChains];
    for (auto& group : sums)
      for (auto& row : group)
        for (F& sum : row) sum = V::zero();
    for (int unit = 0; unit < units; ++unit) {
      for (int i = 0; i < kGroups; ++i)
        fetch(pages, step, i, unit * V::kWidth / units, (unit + 1) * V::kWidth / units);
      int64_t shift[8];
      pages.shifts(unit, shift);
      const float* q = queries + unit * kOperands * kRows;
      F first[kGroups == 2 ? kOperands : 1];
      if constexpr (kGroups == 2)
        V::template transpose<kType>(step.tiles[0], stride, shift,
                                     [&](int d, F key) { first[d] = key; });
      V::template transpose<kType>(step.tiles[kGroups - 1], stride, shift, [&](int d, F key) {
        for (int row = 0; row < kRows; ++row) {
          const F query = V::set1(q[d * kRows + row]);
          if constexpr (kGroups == 2) {
            F& sum = sums[0][row][d % kChains];
            sum = V::multiply_keys(first[d], query, sum);
          }
          F& sum = sums[kGroups - 1][row][d % kChains];
          sum = V::multiply_keys(key, query, sum);
        }
      });
    }
    for (int group = 0; group < kGroups; ++group) {
      for (int row = 0; row < kRows; ++row) {
        totals[group][row] = sums[group][row][0];
        for (int i = 1; i < kChains; ++i)
          totals[group][row] = V::add(totals[group][row], sums[group][row][i]);
      }
    }
  }

  static KVB_HD void fetch(const Rows& pages, const Step& step, int group, int first, int last) {
    if (step.ahead[group].keys != nullptr)
      pages.fetch(step.ahead[group], step.first + first, step.first + last);
  }

  template <int kRows>
  static KVB_HD void score_by_token(const Rows& pages, const Step& step, const float* queries,
                                    F* totals) {
    const int64_t stride = pages.p.token_stride;
    if constexpr (kRows == 1) {
      totals[0] = V::sums([&](int t) KVB_INLINE_LAMBDA {
        fetch(pages, step, 0, t, t + 1);
        F sum[1][1];
        dot<1, 1, 4>(step.tiles[0] + t * stride, stride, queries, sum);
        return sum[0][0];
      });
    } else {
      F sums[V::kWidth][kRows];
      for (int t = 0; t < V::kWidth; t += 2) {
        fetch(pages, step, 0, t, t + 2);
        dot<kRows, 2, kRows == 2 ? 2 : 1>(step.tiles[0] + t * stride, stride, queries, sums + t);
      }
      for (int row = 0; row < kRows; ++row)
        totals[row] = V::sums([&](int t) { return sums[t][row]; });
    }
  }

  /// Lanes' sums of some tokens' K times each query.
  template <int kRows, int kTokens, int kChains>
  static KVB_HD void dot(const uint8_t* key, int64_t stride, const float* queries,
                         F (*totals)[kRows]) {
    // Shorter pieces of several tokens fit the registers; their elements have the same order.
    constexpr int kTaken = kTokens > 1 ? V::template kShortPiece<kType> : kPiece;
    constexpr int kVectors = kTaken / (V::kWidth * V::kKeyElements);
    constexpr int kQuery = kDim / V::kKeyElements;
    F sums[kTokens][kRows][kChains];
    for (auto& token : sums)
      for (auto& row : token)
        for (F& sum : row) sum = V::zero();
    for (int at = 0; at < kDim; at += kTaken) {
      F keys[kTokens][kVectors];
      for (int t = 0; t < kTokens; ++t)
        V::template load_keys<kType, kTaken>(key + t * stride + at * Rows::kElementBytes, keys[t]);
      for (int v = 0; v < kVectors; ++v) {
        for (int row = 0; row < kRows; ++row) {
          const F q = V::load(queries + row * kQuery + at / V::kKeyElements + v * V::kWidth);
          for (int t = 0; t < kTokens; ++t) {
            F& sum = sums[t][row][(at / kTaken * kVectors + v) % kChains];
            sum = V::multiply_keys(keys[t][v], q, sum);
          }
        }
      }
    }
    for (int t = 0; t < kTokens; ++t) {
      for (int row = 0; row < kRows; ++row) {
        totals[t][row] = sums[t][row][0];
        for (int i = 1; i < kChains; ++i) totals[t][row] = V::add(totals[t][row], sums[t][row][i]);
      }
    }
  }
};

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
