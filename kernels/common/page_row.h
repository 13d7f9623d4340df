// Where the row of one (token, head) and its scales lie in a paged cache.
#pragma once

#include "kernels/common/hd.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

/// One (token, head) of a page.
struct PageRow {
  int64_t block;
  int32_t head;
  int32_t token;  ///< in its block
};

KVB_HD int64_t row_offset(const kvb_pages& pages, const PageRow& row) {
  return row.block * pages.block_stride + row.head * pages.head_stride +
         row.token * pages.token_stride;
}

KVB_HD int64_t scale_offset(const kvb_pages& pages, const PageRow& row) {
  return row.block * pages.scale_block_stride + row.head * pages.scale_head_stride +
         row.token * pages.scale_token_stride;
}

}  // namespace kvbudget::kernels
