// A piece of decode's work and how pieces of one row join: what both of the GPU's kernels share.
#pragma once

#include <math.h>

#include "kernels/common/float_bits.h"
#include "kernels/decode/numbers.h"
#include "kernels/decode/row_limits.h"

namespace kvbudget::kernels {

constexpr int kWarps = 4;  ///< of a block
constexpr float kInfinity = HUGE_VALF;

struct DecodeWork {
  int32_t sequence;
  int32_t piece;       ///< of all; its place in the workspace
  int32_t num_splits;  ///< of the sequence
  int32_t kv_head;
  int32_t group;
  int32_t first_column, num_rows;  ///< of the sequence's query rows, the group innermost
  int32_t length;
  int64_t first_query;
  TokenRange tokens;  ///< this split's; begin is a multiple of a tile
};

/// Reads the plan. False: nothing to do. `column_tile` counts tiles of `columns` query rows.
template <class W>
KVB_HD_BODY bool open_work(const W& w, const kvb_decode_args& a, int32_t piece, int32_t kv_head,
                           int32_t column_tile, int32_t columns, DecodeWork* work) {
  const int32_t* first_work = a.plan.work;
  const int32_t* pairs = a.plan.work + a.num_sequences + 1;
  const int32_t s = w.load_uniform(pairs + 2 * static_cast<int64_t>(piece));
  if (s < 0) return false;
  const int32_t split = w.load_uniform(pairs + 2 * static_cast<int64_t>(piece) + 1);
  work->sequence = s;
  work->piece = piece;
  work->num_splits = w.load_uniform(first_work + s + 1) - w.load_uniform(first_work + s);
  work->kv_head = kv_head;
  work->group = a.num_query_heads / a.pages.num_kv_heads;
  int32_t count = a.query_tokens;
  work->first_query = static_cast<int64_t>(s) * a.query_tokens;
  if (a.query_starts != nullptr) {
    work->first_query = w.load_uniform(a.query_starts + s);
    count = w.load_uniform(a.query_starts + s + 1) - static_cast<int32_t>(work->first_query);
  }
  work->num_rows = count * work->group;
  work->first_column = column_tile * columns;
  work->length = w.load_uniform(a.lengths + s);
  const TokenRange all = visited_tokens(work->length, count, a.window);
  work->tokens.begin = all.begin + split * a.plan.split_tokens;
  const int32_t end = work->tokens.begin + a.plan.split_tokens;
  work->tokens.end = end < all.end ? end : all.end;
  return work->first_column < work->num_rows;
}

/// One row's parts: outputs relative to their maxima, and (maximum, sum) of each.
struct PartList {
  const float* output;
  const float* statistics;
  int64_t output_stride, statistics_stride;  ///< floats
  int32_t count;
};

template <class W, int kDim>
struct RowResult {
  typename W::F32 output[kDim / 32];  ///< dimensions lane + 32 k
  float top, sum;
};

template <class W, int kDim>
KVB_HD_BODY RowResult<W, kDim> merge_parts(W& w, const PartList& parts) {
  RowResult<W, kDim> result;
  KVB_UNROLL
  for (auto& x : result.output) x = w.constant(0.f);
  result.top = kLowestScore;
  result.sum = 0.f;
  for (int32_t i = 0; i < parts.count; ++i)
    result.top = fmaxf(result.top, w.load_uniform(parts.statistics + i * parts.statistics_stride));
  for (int32_t i = 0; i < parts.count; ++i) {
    const float* statistics = parts.statistics + i * parts.statistics_stride;
    const float sum = w.load_uniform(statistics + 1);
    if (!(sum > 0.f)) continue;
    const float weight = w.exp2_uniform(w.load_uniform(statistics) - result.top);
    result.sum += weight * sum;
    KVB_UNROLL
    for (int k = 0; k < kDim / 32; ++k) {
      const auto at =
          w.each([=](uint32_t l) { return l + 32u * static_cast<uint32_t>(k); }, w.lane());
      result.output[k] = w.each([=](float x, float y) { return x + weight * y; }, result.output[k],
                                w.load_float(parts.output + i * parts.output_stride, at));
    }
  }
  return result;
}

/// Parts of all pieces: [pieces, query tokens, query heads, dim], then their statistics.
KVB_HD int64_t part_row(const kvb_decode_args& a, int32_t piece, int32_t token, int32_t head) {
  return (static_cast<int64_t>(piece) * a.query_tokens + token) * a.num_query_heads + head;
}

KVB_HD float* part_statistics(const kvb_decode_args& a) {
  return static_cast<float*>(a.plan.workspace) +
         part_row(a, a.plan.num_work, 0, 0) * a.pages.head_dim;
}

template <class W, int kDim>
KVB_HD_BODY void write_part(W& w, const kvb_decode_args& a, const RowResult<W, kDim>& result,
                            int32_t piece, int32_t token, int32_t head) {
  const int64_t row = part_row(a, piece, token, head);
  float* to = static_cast<float*>(a.plan.workspace) + row * kDim;
  KVB_UNROLL
  for (int k = 0; k < kDim / 32; ++k) {
    const auto at =
        w.each([=](uint32_t l) { return l + 32u * static_cast<uint32_t>(k); }, w.lane());
    w.store_float(to, at, w.constant(true), result.output[k]);
  }
  const float top = result.top;
  const float sum = result.sum;
  const auto pair = w.each([](uint32_t l) { return l < 2; }, w.lane());
  w.store_float(part_statistics(a) + row * 2, w.lane(), pair,
                w.each([=](uint32_t l) { return l == 0 ? top : sum; }, w.lane()));
}

/// Divides by the sum, the sink included, and writes the output and the log of the sum.
template <class W, int kDim>
KVB_HD_BODY void write_row(W& w, const kvb_decode_args& a, const RowResult<W, kDim>& result,
                           int64_t token, int32_t head) {
  float sum = result.sum;
  float top = result.top;
  float factor = sum > 0.f ? 1.f / sum : 0.f;
  if (a.sinks != nullptr) {
    const float sink = w.load_uniform(a.sinks + head) * kLog2E;
    const float above = fmaxf(top, sink);
    const float down = w.exp2_uniform(top - above);
    sum = sum * down + w.exp2_uniform(sink - above);
    top = above;
    factor = down / sum;
  }
  const int64_t row = token * a.output_token_stride + head * a.output_head_stride;
  KVB_UNROLL
  for (int k = 0; k < kDim / 32; ++k) {
    const auto at =
        w.each([=](uint32_t l) { return l + 32u * static_cast<uint32_t>(k); }, w.lane());
    const auto value = w.each([=](float x) { return x * factor; }, result.output[k]);
    if (a.output_type == KVB_FLOAT32) {
      w.store_float(static_cast<float*>(a.output) + row, at, w.constant(true), value);
    } else {
      const bool is_half = a.output_type == KVB_FLOAT16;
      w.store_short(
          static_cast<uint16_t*>(a.output) + row, at,
          w.each([=](float x) { return is_half ? float_to_half(x) : float_to_bfloat16(x); },
                 value));
    }
  }
  if (a.lse == nullptr) return;
  const float lse = sum > 0.f ? (top + w.log2_uniform(sum)) * kLn2 : -kInfinity;
  const auto leader = w.each([](uint32_t l) { return l == 0; }, w.lane());
  w.store_float(a.lse + token * a.num_query_heads + head, w.lane(), leader, w.constant(lse));
}

/// The second kernel: one warp joins the pieces of one row.
template <class W, int kDim>
KVB_HD_BODY void merge_row_of_pieces(W& w, const kvb_decode_args& a, int32_t s, int32_t token,
                                     int32_t head) {
  const int32_t first = w.load_uniform(a.plan.work + s);
  const int32_t count = w.load_uniform(a.plan.work + s + 1) - first;
  int64_t first_query = static_cast<int64_t>(s) * a.query_tokens;
  int32_t queries = a.query_tokens;
  if (a.query_starts != nullptr) {
    first_query = w.load_uniform(a.query_starts + s);
    queries = w.load_uniform(a.query_starts + s + 1) - static_cast<int32_t>(first_query);
  }
  if (count < 2 || token >= queries) return;  // the first kernel has written it
  const int64_t row = part_row(a, first, token, head);
  const int64_t rows = part_row(a, 1, 0, 0);
  PartList parts;
  parts.output = static_cast<const float*>(a.plan.workspace) + row * kDim;
  parts.statistics = part_statistics(a) + row * 2;
  parts.output_stride = rows * kDim;
  parts.statistics_stride = rows * 2;
  parts.count = count;
  write_row<W, kDim>(w, a, merge_parts<W, kDim>(w, parts), first_query + token, head);
}

}  // namespace kvbudget::kernels
