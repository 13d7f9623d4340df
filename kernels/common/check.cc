#include "kernels/common/check.h"

#include <initializer_list>

#include "kernels/layout/kv_page.h"

namespace kvbudget::kernels {
namespace {

Problem check_shape(const kvb_pages& p) {
  if (p.num_blocks <= 0 || p.num_kv_heads <= 0) return invalid("pages have no blocks or heads");
  if (p.block_tokens < 16 || p.block_tokens > 128 || p.block_tokens % 16 != 0)
    return unsupported("block_tokens is not a multiple of 16 from 16 to 128");
  if (p.head_dim != 64 && p.head_dim != 96 && p.head_dim != 128 && p.head_dim != 256)
    return unsupported("head_dim is not 64, 96, 128 or 256");
  if (!is_fp8(p.type) && p.type != KVB_BFLOAT16)
    return unsupported("pages hold neither FP8 nor bfloat16");
  if (p.swizzle != 0 && p.swizzle != 1) return invalid("swizzle is neither 0 nor 1");
  if (p.swizzle == 1 &&
      (!layout::can_swizzle(static_cast<uint32_t>(p.head_dim)) || element_bytes(p.type) != 1))
    return unsupported("only FP8 pages of head_dim 128 or 256 can be swizzled");
  return {};
}

/// Strides must keep rows apart, whatever their order; which stride is the largest is the view's.
Problem check_strides(const kvb_pages& p) {
  const int64_t row = int64_t{p.head_dim} * element_bytes(p.type);
  if (p.token_stride < row || p.head_stride < row || p.block_stride < row)
    return invalid("a stride is smaller than a row");
  constexpr int64_t kLimit = int64_t{1}
                             << 48;  // an address space, so that products cannot overflow
  if (p.token_stride > kLimit || p.head_stride > kLimit / p.num_kv_heads ||
      p.block_stride > kLimit / p.num_blocks)
    return invalid("a stride reaches beyond any memory");
  return {};
}

Problem check_scales(const kvb_pages& p) {
  if (p.scales < KVB_SCALES_NONE || p.scales > KVB_SCALES_TOKEN_HEAD_F32)
    return invalid("scales is not a kvb_scales");
  if (p.scales == KVB_SCALES_NONE) return {};
  if (!is_fp8(p.type)) return invalid("pages of 16 bits have no scales");
  if (p.key_scales == nullptr || p.value_scales == nullptr)
    return invalid("a scale pointer is null");
  if (!has_token_scales(p.scales)) return {};
  const int64_t width = scale_bytes(p.scales);
  constexpr int64_t kLimit = int64_t{1} << 48;
  for (const int64_t stride : {p.scale_block_stride, p.scale_head_stride, p.scale_token_stride}) {
    if (stride < width || stride % width != 0 || stride > kLimit / p.num_blocks)
      return invalid("a scale stride is not a positive multiple of the scale's bytes");
  }
  return {};
}

}  // namespace

Problem check_pages(const kvb_pages& p) {
  if (const Problem problem = check_head(&p)) return problem;
  if (p.keys == nullptr || p.values == nullptr) return invalid("keys or values is null");
  if (const Problem problem = check_shape(p)) return problem;
  if (const Problem problem = check_strides(p)) return problem;
  return check_scales(p);
}

}  // namespace kvbudget::kernels
