// Joins what the splits of one query row found: outputs that belong to different maxima are brought
// to the largest, summed and divided.
#pragma once

#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

/// One row of several splits, `stride` rows apart.
struct RowParts {
  const float* output;   // [splits, stride, head_dim]
  const float* row_max;  // [splits, stride]
  const float* row_sum;  // [splits, stride]
  int32_t num_splits;
  int64_t stride;
};

/// Writes row (`token`, `head`) of the output and its log-sum-exp; a row without tokens is zeros
/// and minus infinity. `value_scale` is what the values of the parts lack.
void merge_row(const kvb_decode_args& args, const RowParts& parts, float value_scale, int64_t token,
               int32_t head);

}  // namespace kvbudget::kernels
