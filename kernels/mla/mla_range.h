// What MLA's decode loop does in one go: up to 128 query rows of one sequence over a range of its
// tokens.
#pragma once

#include <cstdint>

namespace kvbudget::kernels {

constexpr int32_t kMlaMostRows = 128;
constexpr int32_t kMlaKeyDim = 576;    ///< latent, then RoPE
constexpr int32_t kMlaValueDim = 512;  ///< the latent

struct MlaRange {
  const uint8_t* cache;  // [blocks, block_tokens, 656] by the strides
  int64_t block_stride, token_stride;
  int32_t block_tokens;
  const int32_t* blocks;  // [blocks of the sequence]
  int32_t begin, end;     ///< tokens
  int32_t num_rows;
  /// [padded rows, 576] in the loop's order, times the softmax scale and log2(e).
  const float* queries;
  const int32_t* limit_token;  // [rows]: a row sees the tokens before it
  float* output;               // [padded rows, 512]: sums of 2^(score - max) x value
  float* row_max;              // [padded rows], in units of log2
  float* row_sum;
};

struct MlaLoop {
  void (*run)(const MlaRange& range);
  int32_t max_rows;       ///< of a block, see rows_in_block
  int (*dim_at)(int at);  ///< the loop's own order of a row: the dimension at a place
};

MlaLoop mla_loop_portable();
MlaLoop mla_loop_avx2();
MlaLoop mla_loop_avx512();

}  // namespace kvbudget::kernels
