// The shape of MLA's cache, checked for all that read or write it.
#pragma once

#include "kernels/common/check.h"
#include "kernels/layout/kv_page.h"

namespace kvbudget::kernels {

struct MlaStrides {
  int64_t num_blocks;
  int32_t block_tokens;
  int64_t block_stride, token_stride;  ///< bytes
};

inline Problem check_mla_strides(const MlaStrides& s) {
  constexpr int64_t kLimit = int64_t{1} << 48;  // an address space
  constexpr int64_t kLeast = layout::MlaToken::kBytes;
  if (s.num_blocks <= 0 || s.block_tokens <= 0) return invalid("the cache has no blocks or tokens");
  if (s.token_stride < kLeast || s.block_stride < kLeast ||
      s.token_stride > kLimit / s.block_tokens || s.block_stride > kLimit / s.num_blocks ||
      s.token_stride % 4 != 0 || s.block_stride % 4 != 0)
    return invalid("a stride is smaller than 656 bytes, beyond memory, or not a multiple of 4");
  return {};
}

}  // namespace kvbudget::kernels
