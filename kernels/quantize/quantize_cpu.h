// The CPU twin of quantise on write: rows one by one, on several threads, by the best instruction
// set of the machine or the one that a test asks for.
#pragma once

#include "kernels/common/cpu_isa.h"
#include "kernels/common/page_row.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

/// Where one row of K or V goes.
struct RowTarget {
  uint8_t* codes;        // [head_dim]
  uint8_t* token_scale;  ///< null: static_scale divides
  float static_scale;
  int32_t head_dim;
  int32_t type;  ///< kvb_type
  int32_t scale_bytes;
  uint32_t token;  ///< in its block, for the swizzle
  bool swizzle;
};

/// Returns how many of the row's elements are NaN.
using QuantizeRow = uint32_t (*)(const void* from, int32_t input_type, const RowTarget& target);

QuantizeRow quantize_row_portable();
QuantizeRow quantize_row_avx2();
QuantizeRow quantize_row_avx512();

/// Writes one row of K and one of V, [head_dim] floats, to a page.
void quantize_one(const kvb_pages& pages, const PageRow& row, const float* keys,
                  const float* values);

/// The arguments have been checked.
void quantize_kv_cpu(const kvb_quantize_args& args, CpuIsa isa);

}  // namespace kvbudget::kernels
