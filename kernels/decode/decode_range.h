// What the CPU's decode loop does in one go: all query rows of some KV heads over a range of a
// sequence's tokens, giving unnormalised outputs with their statistics.
#pragma once

#include "kernels/common/cpu_isa.h"
#include "kernels/decode/numbers.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

constexpr int32_t kMaxQueryTokens = 8;
constexpr int32_t kMaxGroup = 16;
constexpr int32_t kMaxRows = kMaxQueryTokens * kMaxGroup;

/// One KV head's part of it. Those taken together have their blocks and tokens in common.
struct DecodeRange {
  const int32_t* blocks;  // [blocks of the sequence]
  int32_t head;           ///< of K and V
  int32_t begin, end;     ///< tokens; begin is a multiple of 16
  int32_t num_rows;       ///< query tokens x group, the group innermost
  float score_scale;      ///< softmax scale x log2(e) x K's static scale x e4m3_scale
  /// Per block of rows (see rows_in_block) what `order_queries` made of it, head_dim floats a row.
  const float* queries;
  const int32_t* first_token;  // [rows]: a row sees tokens first <= t < limit
  const int32_t* limit_token;  // [rows]
  float soft_cap;              ///< in units of scores x log2(e); 0: none
  float* output;               // [padded rows, head_dim]: sums of 2^(score - max) x V
  float* row_max;              // [padded rows], in units of log2
  float* row_sum;              // [padded rows]
};

/// Rows are taken in blocks that share each converted vector; the last ones are padded.
constexpr int32_t rows_in_block(int32_t rows_left, int32_t max_rows) {
  int32_t rows = 1;
  while (rows < rows_left && rows < max_rows) rows *= 2;
  return rows;
}

constexpr int32_t padded_rows(int32_t num_rows, int32_t max_rows) {
  int32_t padded = 0;
  for (int32_t left = num_rows; left > 0; left -= max_rows) padded += rows_in_block(left, max_rows);
  return padded;
}

static_assert(padded_rows(7, 8) == 8 && padded_rows(12, 8) == 12 && padded_rows(1, 4) == 1);

struct DecodeLoop {
  void (*run)(const kvb_pages& pages, const DecodeRange* ranges, int32_t count);
  /// A block of queries [rows, head_dim] in the loop's order.
  void (*order_queries)(const kvb_pages& pages, const float* from, int32_t rows, float* to);
  int32_t max_rows;  ///< of a block
  float e4m3_scale;  ///< what the loop's reading of e4m3 lacks
};

DecodeLoop decode_loop_portable();
DecodeLoop decode_loop_avx2();
DecodeLoop decode_loop_avx512();
DecodeLoop decode_loop_avx512_bf16();  ///< for bfloat16 queries

}  // namespace kvbudget::kernels
