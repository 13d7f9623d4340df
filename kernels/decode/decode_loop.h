// The CPU's decode loop, written once over a vector type and compiled once per instruction set.
//
// A chunk of tokens that fits the first-level cache is taken in three steps by each block of query
// rows: scores (score_rows.h), softmax in base 2 with a running maximum, output (add_values.h).
// Each conversion of a code serves all rows of the block.
// Heads follow each other within a chunk: in pages of either order they lie side by side, so memory
// is read in runs of a whole block, and the next head's rows are fetched meanwhile; blocks are
// scattered, so the hardware cannot guess them.
#pragma once

#include <math.h>

#include "kernels/decode/add_values.h"
#include "kernels/decode/score_rows.h"
#include "kernels/decode/vector_math.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

template <class V, ElementType kType, int kDim>
struct Loop {
  using F = typename V::F;
  using Score = ScoreRows<V, kType, kDim>;
  using Add = AddValues<V, kType, kDim>;

  const Pages<kType, kDim>& pages;
  const DecodeRange& r;
  const Place* next;  // [kTiles]: what is to be fetched meanwhile
  int next_head;
  int num_next;  ///< tiles

  Ahead ahead_of(int tile) const {
    return tile < num_next ? pages.ahead_of(next[tile], next_head) : Ahead{};
  }

  /// scores[row][token] of kRows rows, masked and with K's scales.
  template <int kRows>
  void score(const Chunk& chunk, const float* queries, int first_row, float (*scores)[kChunk],
             float* largest) const {
    F most[kRows];
    for (int row = 0; row < kRows; ++row) most[row] = V::set1(kLowestScore);
    constexpr int kStep = Score::template kStep<kRows>;
    for (int at = 0; at < chunk.count;) {
      if (kStep > V::kWidth && chunk.count - at >= kStep) {
        score_step<kRows, V::kGroups>(chunk, queries, first_row, at, scores, most);
        at += kStep;
      } else {
        score_step<kRows, 1>(chunk, queries, first_row, at, scores, most);
        at += V::kWidth;
      }
    }
    for (int row = 0; row < kRows; ++row) largest[row] = V::largest(most[row]);
  }

  template <int kRows, int kGroups>
  KVB_HD void score_step(const Chunk& chunk, const float* queries, int first_row, int begin,
                         float (*scores)[kChunk], F* most) const {
    typename Score::Step step{};
    step.first = begin % kTile;
    for (int i = 0; i < kGroups; ++i) {
      const int at = begin + i * V::kWidth;
      step.tiles[i] = chunk.keys[at / kTile] + at % kTile * pages.p.token_stride;
      if (first_row == 0) step.ahead[i] = ahead_of(at / kTile);
    }
    F totals[kGroups][kRows];
    Score::template score<kRows, kGroups>(pages, step, queries, totals);
    for (int i = 0; i < kGroups; ++i) {
      const int at = begin + i * V::kWidth;
      const F scale = pages.token_scales ? V::load(chunk.key_scales + at) : V::set1(r.score_scale);
      for (int row = 0; row < kRows; ++row) {
        F score = V::mul(totals[i][row], scale);
        if (r.soft_cap > 0.f) score = soften<V>(score, r.soft_cap);
        score = mask(score, chunk.begin + at, first_row + row);
        most[row] = V::max(most[row], score);
        V::store(scores[row] + at, score);
      }
    }
  }

  KVB_HD F mask(F score, int token, int row) const {
    if (row >= r.num_rows) return score;
    const int low = r.first_token[row] - token;
    const int high = r.limit_token[row] - token;
    if (low <= 0 && high >= V::kWidth) return score;
    return V::keep(score, low, high, V::set1(-INFINITY));
  }

  /// The chunk's tokens that any row of a block sees. Rows of V outside may hold anything, NaN too:
  /// they are not read.
  struct Seen {
    int low, high;
  };
  Seen seen_by(const Chunk& chunk, int first_row, int rows) const {
    Seen seen{chunk.count, 0};
    for (int row = first_row; row < first_row + rows && row < r.num_rows; ++row) {
      const int from = r.first_token[row] - chunk.begin;
      const int to = r.limit_token[row] - chunk.begin;
      seen.low = from < seen.low ? from : seen.low;
      seen.high = to > seen.high ? to : seen.high;
    }
    seen.low = seen.low < 0 ? 0 : seen.low;
    seen.high = seen.high > chunk.count ? chunk.count : seen.high;
    return seen;
  }

  template <int kRows>
  void take(const Chunk& chunk, const float* queries, int first_row, int padded_row) const {
    Weights<V, kRows> weights;
    float largest[kRows], factors[kRows];
    score<kRows>(chunk, queries, first_row, weights.all, largest);
    for (int row = 0; row < kRows; ++row) {
      float* weight = weights.all[row];
      factors[row] = to_weights<V>(weight, chunk.count, largest[row], r.row_max + padded_row + row,
                                   r.row_sum + padded_row + row);
      if (!pages.token_scales) continue;
      for (int at = 0; at < chunk.count; at += V::kWidth)
        V::store(weight + at, V::mul(V::load(weight + at), V::load(chunk.value_scales + at)));
    }
    const Seen seen = seen_by(chunk, first_row, kRows);
    if constexpr (V::kValueTokens == 2) weights.split(seen.low, seen.high, chunk.count);
    Add{pages, chunk, seen.low, seen.high}.template add<kRows>(weights, factors,
                                                               r.output + padded_row * pages.dim());
  }

  void take_chunk(const Chunk& chunk) const {
    each_block(r, pages.dim(), [&](const float* queries, int row, int rows, int padded) {
      if constexpr (V::kMaxRows >= 8) {
        if (rows == 8) take<8>(chunk, queries, row, padded);
      }
      if (rows == 4) take<4>(chunk, queries, row, padded);
      if (rows == 2) take<2>(chunk, queries, row, padded);
      if (rows == 1) take<1>(chunk, queries, row, padded);
    });
  }

  /// work(queries, first row, rows, padded row) for each block of rows.
  template <typename Work>
  static KVB_HD void each_block(const DecodeRange& r, int dim, const Work& work) {
    const float* queries = r.queries;
    int padded = 0;
    for (int row = 0; row < r.num_rows;) {
      const int rows = rows_in_block(r.num_rows - row, V::kMaxRows);
      work(queries, row, rows, padded);
      queries += rows * dim;
      row += rows;
      padded += rows;
    }
  }

  static int find_places(const Pages<kType, kDim>& pages, int begin, int end, Place* places) {
    int count = 0;
    for (; count < kTiles && begin + count * kTile < end; ++count)
      places[count] = pages.place_of(begin + count * kTile);
    return count;
  }

  /// Several heads over the same tokens.
  static void run(const kvb_pages& p, const DecodeRange* ranges, int count) {
    const Pages<kType, kDim> pages{
        p, ranges[0].blocks,
        p.scales == KVB_SCALES_TOKEN_HEAD_E8M0 || p.scales == KVB_SCALES_TOKEN_HEAD_F32};
    const int end = ranges[0].end;
    Place places[2][kTiles];
    int num_tiles = find_places(pages, ranges[0].begin, end, places[0]);
    Chunk chunk;
    for (int begin = ranges[0].begin, now = 0; begin < end; begin += kChunk, now ^= 1) {
      chunk.begin = begin;
      chunk.count = num_tiles * kTile;
      const int num_next = find_places(pages, begin + kChunk, end, places[now ^ 1]);
      for (int i = 0; i < count; ++i) {
        pages.open(ranges[i], places[now], &chunk);
        if (i + 1 < count)
          Loop{pages, ranges[i], places[now], ranges[i + 1].head, num_tiles}.take_chunk(chunk);
        else
          Loop{pages, ranges[i], places[now ^ 1], ranges[0].head, num_next}.take_chunk(chunk);
      }
      num_tiles = num_next;
    }
    if (!V::kInterleaved) return;
    for (int i = 0; i < count; ++i) {
      each_block(ranges[i], pages.dim(), [&](const float*, int, int rows, int padded) {
        for (int row = padded; row < padded + rows; ++row)
          Add::put_in_order(ranges[i].output + row * pages.dim(), pages.dim(), rows);
      });
    }
  }
};

template <class L>
struct Chosen {
  using Loop = L;
};

/// work(Chosen) for the loop of these pages.
template <class V, ElementType kType, typename Work>
static void with_dim(const kvb_pages& pages, const Work& work) {
  if (pages.head_dim == 128 && pages.swizzle == 0)
    work(Chosen<Loop<V, kType, 128>>{});
  else
    work(Chosen<Loop<V, kType, 0>>{});
}

template <class V, typename Work>
static void with_loop(const kvb_pages& pages, const Work& work) {
  if (pages.type == KVB_BFLOAT16)
    with_dim<V, ElementType::kBFloat16>(pages, work);
  else if (pages.type == KVB_FLOAT8_E5M2)
    with_dim<V, ElementType::kFloat8E5M2>(pages, work);
  else
    with_dim<V, ElementType::kFloat8E4M3>(pages, work);
}

template <class V>
static void run_loop(const kvb_pages& pages, const DecodeRange* ranges, int32_t count) {
  with_loop<V>(pages, [&](auto chosen) { decltype(chosen)::Loop::run(pages, ranges, count); });
}

template <class V>
static void order_queries(const kvb_pages& pages, const float* from, int32_t rows, float* to) {
  with_loop<V>(pages, [&](auto chosen) {
    decltype(chosen)::Loop::Score::order(from, pages.head_dim, rows, to);
  });
}

template <class V>
static DecodeLoop make_loop() {
  return {run_loop<V>, order_queries<V>, V::kMaxRows, V::kE4Scale};
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
