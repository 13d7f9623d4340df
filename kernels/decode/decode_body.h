// The GPU's decode, first kernel: four warps take the 16-token tiles of one piece (sequence, KV
// head, split) in turn and merge at the end.
//
// Tokens are the M side of mma.m16n8k16, query rows the N side, so that 16-byte loads of K and V
// are fragments as they come:
// - scores: the order of dimensions that loads give (decode_tiles.h) is applied to Q once, the sum
//   over them does not care.
// - weights: two movmatrix turn the scores' layout into a B fragment.
// - output: byte permutations pair the tokens of V, and O accumulates transposed.
// Codes become binary16, which holds every e4m3 value, and sums are binary32: FP8 tensor cores are
// emulated on sm_90 and sum too coarsely (flash-attention issues 104 and 122).
//
// Two running maxima per row: of scores, for the sum of weights, and of scores plus the exponent of
// V's scale, for the weights that multiply codes, so that those never overflow binary16.
// W is a machine; see quantize_body.h. What lies between phases is a barrier of the block.
#pragma once

#include "kernels/decode/decode_tiles.h"

namespace kvbudget::kernels {

struct Maximum {
  KVB_HD float operator()(float x, float y) const { return x > y ? x : y; }
};
struct Product {
  KVB_HD float operator()(float x, float y) const { return x * y; }
};
struct Difference {
  KVB_HD float operator()(float x, float y) const { return x - y; }
};
struct Sum {
  KVB_HD float operator()(float x, float y) const { return x + y; }
};

template <class W, int kDim, int kColumnTiles, ElementType kType>
struct DecodeWarp : DecodeTiles<W, kDim, kType> {
  using Tiles = DecodeTiles<W, kDim, kType>;
  using Tile = typename Tiles::Tile;
  using U32 = typename W::U32;
  using F32 = typename W::F32;
  using Bool = typename W::Bool;
  using Tiles::a;
  using Tiles::lane_g;
  using Tiles::lane_t;
  using Tiles::load_ids;
  using Tiles::load_keys;
  using Tiles::load_queries;
  using Tiles::load_scales;
  using Tiles::load_values;
  using Tiles::row_of;
  using Tiles::token_scales;
  using Tiles::value_dim;
  using Tiles::w;
  using Tiles::work;

  static constexpr int kColumns = 8 * kColumnTiles;
  static constexpr int kValueWords = Tiles::kValueWords;
  static constexpr int kSteps = Tiles::kSteps;
  static constexpr int kSharedFloats = kWarps * kColumns * (kDim + 2);

  int warp;
  float* shared;  // [warps, columns, dim] outputs, then [warps, columns, 2] maxima and sums

  struct State {
    U32 queries[kColumnTiles][kSteps][2];
    F32 score_scale[kColumnTiles][2];  ///< by the lane's columns 2t, 2t + 1
    F32 output[kColumnTiles][kSteps][4];
    F32 score_max[kColumnTiles][2], weight_max[kColumnTiles][2], sum[kColumnTiles][2];
  };

  /// First phase: each warp's tiles, into shared memory.
  KVB_HD_BODY void accumulate() {
    State s;
    prepare(&s);
    const int first = work.tokens.begin / kTileTokens + warp;
    const int end = (work.tokens.end + kTileTokens - 1) / kTileTokens;
    const int count = first < end ? (end - first + kWarps - 1) / kWarps : 0;
    Tile tile;
    U32 ids = w.constant(0u);
    PageRow row{};
    if (count > 0) {
      ids = load_ids(first, end);
      row = row_of(first, w.broadcast(ids, 0));
      load_keys(row, &tile);
      load_scales(row, &tile);
      load_values(row, &tile);
    }
    for (int k = 0; k < count; ++k) {
      // Each part of the next tile is fetched as soon as its registers are free.
      const int at = first + k * kWarps;
      const bool more = k + 1 < count;
      F32 scores[kColumnTiles][4];
      score(s, tile, scores);
      if (more) {
        if ((k + 1) % 32 == 0) ids = load_ids(at + kWarps, end);
        row = row_of(at + kWarps, w.broadcast(ids, (k + 1) % 32));
        load_keys(row, &tile);
      }
      U32 weights[kColumnTiles][2];
      weigh(tile, at * kTileTokens, scores, &s, weights);
      if (more) load_scales(row, &tile);
      if (at * kTileTokens < lowest_token() || (at + 1) * kTileTokens > work.length)
        clear_unseen(at * kTileTokens, &tile);
      add_values(tile, weights, &s);
      if (more) load_values(row, &tile);
    }
    publish(&s);
  }

  /// Second phase: the piece's rows, to the output if it is the only one, else to the workspace.
  KVB_HD_BODY void finish() {
    for (int column = warp; column < kColumns; column += kWarps) {
      const int row = work.first_column + column;
      if (row >= work.num_rows) return;
      PartList parts;
      parts.output = shared + column * kDim;
      parts.statistics = shared + kWarps * kColumns * kDim + column * 2;
      parts.output_stride = kColumns * kDim;
      parts.statistics_stride = kColumns * 2;
      parts.count = kWarps;
      RowResult<W, kDim> result = merge_parts<W, kDim>(w, parts);
      const int32_t token = row / work.group;
      const int32_t head = work.kv_head * work.group + row % work.group;
      if (work.num_splits == 1) {
        write_row<W, kDim>(w, a, result, work.first_query + token, head);
      } else {
        write_part<W, kDim>(w, a, result, work.piece, token, head);
      }
    }
  }

 private:
  KVB_HD_BODY int lowest_token() const {
    return visible_tokens(work.length, work.num_rows / work.group, 0, a.window).begin;
  }

  /// Queries as B fragments, each row brought to below 2 by a power of two that its scores get
  /// back: binary16 then neither overflows nor loses small rows.
  KVB_HD_BODY void prepare(State* s) {
    KVB_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) {
      const uint32_t first = static_cast<uint32_t>(work.first_column + 8 * n);
      F32 x[kSteps][4];
      load_queries(first, x);
      F32 most = w.constant(0.f);
      KVB_UNROLL
      for (const auto& step : x) KVB_UNROLL
      for (const F32& value : step)
        most = w.each([](float m, float v) { return fmaxf(m, fabsf(v)); }, most, value);
      most = w.each(Maximum{}, most, w.shuffle_xor(most, 1));
      most = w.each(Maximum{}, most, w.shuffle_xor(most, 2));
      const F32 power = w.each(
          [](float m) {
            const uint32_t exponent = bits_of(m) & kInfinityBits;
            return exponent == 0 || exponent == kInfinityBits ? 1.f : float_of(exponent);
          },
          most);
      const F32 inverse = w.each([](float p) { return p < 0x1p-125f ? 0x1p125f : 1.f / p; }, power);
      KVB_UNROLL
      for (int k = 0; k < kSteps; ++k) {
        KVB_UNROLL
        for (int half = 0; half < 2; ++half)
          s->queries[n][k][half] = w.pack(w.each(Product{}, x[k][2 * half], inverse),
                                          w.each(Product{}, x[k][2 * half + 1], inverse));
      }
      KVB_UNROLL
      for (int j = 0; j < 2; ++j) {
        const U32 source =
            w.each([=](uint32_t t) { return (2 * t + static_cast<uint32_t>(j)) * 4; }, lane_t());
        const float scale = a.softmax_scale * kLog2E * static_scale(a.pages.key_scales) *
                            W::template kDecodeScale<kType>;
        s->score_scale[n][j] = w.each([=](float p) { return p * scale; }, w.shuffle(power, source));
        s->score_max[n][j] = s->weight_max[n][j] = w.constant(kLowestScore);
        s->sum[n][j] = w.constant(0.f);
      }
      KVB_UNROLL
      for (auto& step : s->output[n]) KVB_UNROLL
      for (F32& value : step) value = w.constant(0.f);
    }
  }

  KVB_HD_BODY float static_scale(const void* scales) const {
    if (a.pages.scales == KVB_SCALES_TENSOR)
      return w.load_uniform(static_cast<const float*>(scales));
    if (a.pages.scales == KVB_SCALES_HEAD)
      return w.load_uniform(static_cast<const float*>(scales) + work.kv_head);
    return 1.f;
  }

  /// Is there a token in the tile that some query does not see?
  KVB_HD_BODY bool is_edge(int first_token) const {
    const int32_t count = work.num_rows / work.group;
    const TokenRange last = visible_tokens(work.length, count, count - 1, a.window);
    const TokenRange first = visible_tokens(work.length, count, 0, a.window);
    return first_token < last.begin || first_token + kTileTokens > first.end;
  }

  /// Scores of tokens that their query does not see become minus infinity. The limits are worked
  /// out anew: only tiles at the edges need them, and in between they would take registers.
  KVB_HD_BODY void hide_unseen(int first_token, int n, F32* scores) {
    const int32_t num_rows = work.num_rows;
    const int32_t group = work.group;
    const int32_t length = work.length;
    const int32_t window = a.window;
    const int32_t first_row = work.first_column + 8 * n;
    KVB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int32_t first = first_token + i / 2 * 8;
      scores[i] = w.each(
          [=](float score, uint32_t g, uint32_t t) {
            const int32_t row = first_row + 2 * static_cast<int32_t>(t) + (i & 1);
            if (row >= num_rows) return -kInfinity;
            const TokenRange seen = visible_tokens(length, num_rows / group, row / group, window);
            const int32_t token = first + static_cast<int32_t>(g);
            return seen.begin <= token && token < seen.end ? score : -kInfinity;
          },
          scores[i], lane_g(), lane_t());
    }
  }

  KVB_HD_BODY void score(const State& s, const Tile& tile, F32 (*scores)[4]) {
    KVB_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) KVB_UNROLL
    for (int i = 0; i < 4; ++i) scores[n][i] = w.constant(0.f);
    KVB_UNROLL
    for (int k = 0; k < kSteps; ++k) {
      const U32 a0 = w.template halves<kType>(tile.keys[0][k], 0);
      const U32 a1 = w.template halves<kType>(tile.keys[1][k], 0);
      const U32 a2 = w.template halves<kType>(tile.keys[0][k], 1);
      const U32 a3 = w.template halves<kType>(tile.keys[1][k], 1);
      KVB_UNROLL
      for (int n = 0; n < kColumnTiles; ++n)
        w.mma(scores[n], a0, a1, a2, a3, s.queries[n][k][0], s.queries[n][k][1]);
    }
  }

  /// Scores to weights as B fragments; brings the sums to the new maxima.
  KVB_HD_BODY void weigh(const Tile& tile, int first_token, F32 (*scores)[4], State* s,
                         U32 (*weights)[2]) {
    const bool scaled = token_scales();
    const float cap = a.soft_cap * kLog2E;
    const bool edge = is_edge(first_token);
    KVB_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) {
      KVB_UNROLL
      for (int i = 0; i < 4; ++i) {
        F32 x = w.each(Product{}, scores[n][i], s->score_scale[n][i & 1]);
        if (scaled) x = w.each(Product{}, x, tile.key_scales[i / 2]);
        if (cap > 0.f) x = soften(x, cap);
        scores[n][i] = x;
      }
      if (edge) hide_unseen(first_token, n, scores[n]);
      F32 lifted[4];  // scores plus the exponent of V's scale
      KVB_UNROLL
      for (int i = 0; i < 4; ++i) {
        lifted[i] = scores[n][i];
        if (scaled) {
          lifted[i] = w.each(
              [](float score, uint32_t scale) {
                return score + static_cast<float>(static_cast<int32_t>(scale >> 23) - 127);
              },
              scores[n][i], tile.value_scales[i / 2]);
        }
      }
      KVB_UNROLL
      for (int j = 0; j < 2; ++j) raise(scores[n], lifted, scaled, n, j, s);
      F32 p[4];
      KVB_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int j = i & 1;
        const F32 weight = w.exp2(w.each(Difference{}, scores[n][i], s->score_max[n][j]));
        s->sum[n][j] = w.each(Sum{}, s->sum[n][j], weight);
        p[i] = weight;
        if (scaled) {
          p[i] = w.each(
              [](float x, uint32_t scale) {
                return x * float_of((scale & 0x7fffff) | 0x3f800000);  // what is not a power of two
              },
              w.exp2(w.each(Difference{}, lifted[i], s->weight_max[n][j])),
              tile.value_scales[i / 2]);
        }
      }
      weights[n][0] = w.transpose(w.pack(p[0], p[1]));
      weights[n][1] = w.transpose(w.pack(p[2], p[3]));
    }
  }

  KVB_HD_BODY F32 soften(const F32& x, float cap) {
    const F32 e =
        w.exp2(w.each([=](float score) { return fminf(score * (2.f * kLog2E / cap), 60.f); }, x));
    return w.each([=](float y) { return cap * (1.f - 2.f / (y + 1.f)); }, e);
  }

  /// New maxima of column j; sums and outputs follow where any moved.
  KVB_HD_BODY void raise(const F32* scores, const F32* lifted, bool scaled, int n, int j,
                         State* s) {
    const F32 top = top_of(scores[j], scores[2 + j], s->score_max[n][j]);
    const F32 lifted_top = scaled ? top_of(lifted[j], lifted[2 + j], s->weight_max[n][j]) : top;
    if (!w.any(w.each([](float x, float y, float u, float v) { return x != y || u != v; }, top,
                      s->score_max[n][j], lifted_top, s->weight_max[n][j])))
      return;
    const F32 down = w.exp2(w.each(Difference{}, s->score_max[n][j], top));
    const F32 lifted_down = w.exp2(w.each(Difference{}, s->weight_max[n][j], lifted_top));
    s->sum[n][j] = w.each(Product{}, s->sum[n][j], down);
    KVB_UNROLL
    for (int k = 0; k < kSteps; ++k) {
      s->output[n][k][j] = w.each(Product{}, s->output[n][k][j], lifted_down);
      s->output[n][k][2 + j] = w.each(Product{}, s->output[n][k][2 + j], lifted_down);
    }
    s->score_max[n][j] = top;
    s->weight_max[n][j] = lifted_top;
  }

  KVB_HD_BODY F32 top_of(const F32& x, const F32& y, const F32& before) {
    F32 top = w.each(Maximum{}, x, y);
    KVB_UNROLL
    for (int distance = 4; distance < 32; distance *= 2)
      top = w.each(Maximum{}, top, w.shuffle_xor(top, distance));
    return w.each(Maximum{}, top, before);
  }

  /// A weight of 0 times a stale NaN code would be NaN: rows that no query sees become 0.
  KVB_HD_BODY void clear_unseen(int first_token, Tile* tile) {
    const int low = lowest_token();
    const int high = work.length;
    KVB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int row = first_token + i / 2 * 8 + i % 2;
      const Bool seen = w.each(
          [=](uint32_t t) {
            const int token = row + 2 * static_cast<int>(t);
            return low <= token && token < high;
          },
          lane_t());
      KVB_UNROLL
      for (U32& word : tile->values[i])
        word = w.each([](bool keep, uint32_t x) { return keep ? x : 0; }, seen, word);
    }
  }

  KVB_HD_BODY void add_values(const Tile& tile, const U32 (*weights)[2], State* s) {
    KVB_UNROLL
    for (int m = 0; m < kValueWords; ++m) {
      KVB_UNROLL
      for (int half = 0; half < 2; ++half) {
        const uint32_t selector = half != 0 ? 0x7362 : 0x5140;
        const U32 x = w.permute(tile.values[0][m], tile.values[1][m], selector);
        const U32 y = w.permute(tile.values[2][m], tile.values[3][m], selector);
        const U32 a0 = w.template halves<kType>(x, 0);
        const U32 a1 = w.template halves<kType>(x, 1);
        const U32 a2 = w.template halves<kType>(y, 0);
        const U32 a3 = w.template halves<kType>(y, 1);
        KVB_UNROLL
        for (int n = 0; n < kColumnTiles; ++n)
          w.mma(s->output[n][2 * m + half], a0, a1, a2, a3, weights[n][0], weights[n][1]);
      }
    }
  }

  /// The warp's outputs, relative to the scores' maximum, to its place in shared memory.
  KVB_HD_BODY void publish(State* s) {
    const float scale = static_scale(a.pages.value_scales) * W::template kDecodeScale<kType>;
    KVB_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) {
      KVB_UNROLL
      for (int j = 0; j < 2; ++j) {
        F32 sum = s->sum[n][j];
        KVB_UNROLL
        for (int distance = 4; distance < 32; distance *= 2)
          sum = w.each(Sum{}, sum, w.shuffle_xor(sum, distance));
        const F32 lift =
            w.each([=](float e) { return e * scale; },
                   w.exp2(w.each(Difference{}, s->weight_max[n][j], s->score_max[n][j])));
        const uint32_t first = static_cast<uint32_t>(warp * kColumns + 8 * n + j);
        KVB_UNROLL
        for (int k = 0; k < kSteps; ++k) {
          KVB_UNROLL
          for (int high = 0; high < 2; ++high) {
            const U32 at = w.each(
                [=](uint32_t g, uint32_t t) {
                  return (first + 2 * t) * kDim + value_dim(k / 2, g) +
                         static_cast<uint32_t>(2 * (k % 2) + high);
                },
                lane_g(), lane_t());
            w.store_float(shared, at, w.constant(true),
                          w.each(Product{}, s->output[n][k][2 * high + j], lift));
          }
        }
        const Bool leader = w.each([](uint32_t g) { return g == 0; }, lane_g());
        const U32 at = w.each(
            [=](uint32_t t) { return kWarps * kColumns * kDim + (first + 2 * t) * 2; }, lane_t());
        w.store_float(shared, at, leader, s->score_max[n][j]);
        w.store_float(shared, w.each([](uint32_t x) { return x + 1; }, at), leader, sum);
      }
    }
  }
};

}  // namespace kvbudget::kernels
