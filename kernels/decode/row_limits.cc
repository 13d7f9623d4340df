#include "kernels/decode/row_limits.h"

namespace kvbudget::kernels {

QueryRows query_rows(const kvb_decode_args& args, int32_t s) {
  if (args.query_starts == nullptr) return {int64_t{s} * args.query_tokens, args.query_tokens};
  return {args.query_starts[s], args.query_starts[s + 1] - args.query_starts[s]};
}

}  // namespace kvbudget::kernels
