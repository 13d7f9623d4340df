// Which tokens a query sees, said once for the CPU, the GPU and the planner.
#pragma once

#include "kernels/common/hd.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

struct TokenRange {
  int32_t begin;
  int32_t end;
};

/// Query `index` of `query_tokens`, which are the sequence's last tokens; causal, within the
/// window.
KVB_HD TokenRange visible_tokens(int32_t length, int32_t query_tokens, int32_t index,
                                 int32_t window) {
  const int32_t end = length - query_tokens + index + 1;
  const int32_t begin = window > 0 && end > window ? end - window : 0;
  return {begin, end > 0 ? end : 0};
}

constexpr int32_t kTileTokens = 16;

/// What any of them sees, from the beginning of a tile.
KVB_HD TokenRange visited_tokens(int32_t length, int32_t query_tokens, int32_t window) {
  const TokenRange first = visible_tokens(length, query_tokens, 0, window);
  return {first.begin / kTileTokens * kTileTokens, length > 0 ? length : 0};
}

/// Sequence `s`'s rows of the query tensor.
struct QueryRows {
  int64_t first;
  int32_t count;
};

QueryRows query_rows(const kvb_decode_args& args, int32_t s);

}  // namespace kvbudget::kernels
