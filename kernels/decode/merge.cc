#include "kernels/decode/merge.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/float_bits.h"
#include "kernels/decode/decode_range.h"

namespace kvbudget::kernels {
namespace {

constexpr int32_t kMostDim = 512;  // MLA's latent; heads have 256 at most

void store(const kvb_decode_args& a, int64_t token, int32_t head, const float* row) {
  const int64_t at = token * a.output_token_stride + head * a.output_head_stride;
  const int32_t dim = a.pages.head_dim;
  if (a.output_type == KVB_FLOAT32) {
    std::copy(row, row + dim, static_cast<float*>(a.output) + at);
    return;
  }
  auto* to = static_cast<uint16_t*>(a.output) + at;
  const bool half = a.output_type == KVB_FLOAT16;
  for (int32_t d = 0; d < dim; ++d)
    to[d] = static_cast<uint16_t>(half ? float_to_half(row[d]) : float_to_bfloat16(row[d]));
}

}  // namespace

void merge_row(const kvb_decode_args& a, const RowParts& parts, float value_scale, int64_t token,
               int32_t head) {
  const int32_t dim = a.pages.head_dim;
  const float sink = a.sinks != nullptr ? a.sinks[head] * kLog2E : -INFINITY;
  float top = std::max(kLowestScore, sink);
  for (int32_t i = 0; i < parts.num_splits; ++i)
    top = std::max(top, parts.row_max[i * parts.stride]);
  float row[kMostDim] = {};
  float sum = std::exp2(sink - top);
  for (int32_t i = 0; i < parts.num_splits; ++i) {
    const float weight = std::exp2(parts.row_max[i * parts.stride] - top);
    if (parts.row_sum[i * parts.stride] == 0.f) continue;
    sum += weight * parts.row_sum[i * parts.stride];
    const float* from = parts.output + i * parts.stride * dim;
    for (int32_t d = 0; d < dim; ++d) row[d] += weight * from[d];
  }
  const float factor = sum > 0.f ? value_scale / sum : 0.f;
  for (int32_t d = 0; d < dim; ++d) row[d] *= factor;
  store(a, token, head, row);
  if (a.lse == nullptr) return;
  a.lse[token * a.num_query_heads + head] = sum > 0.f ? (top + std::log2(sum)) * kLn2 : -INFINITY;
}

}  // namespace kvbudget::kernels
