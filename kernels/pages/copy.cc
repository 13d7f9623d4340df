#include "kernels/pages/copy.h"

#include <cstring>

namespace kvbudget::kernels {

Problem check_copy(const kvb_copy_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_copy_args& a = *args;
  if (a.num_pairs < 0) return invalid("num_pairs is negative");
  if (a.num_pairs == 0) return {};
  if (a.from == nullptr || a.to == nullptr || a.pairs == nullptr)
    return invalid("a pointer is null");
  if (a.block_bytes <= 0 || a.num_from_blocks <= 0 || a.num_to_blocks <= 0)
    return invalid("block_bytes or a number of blocks is not positive");
  if (a.block_bytes > INT64_MAX / a.num_from_blocks || a.block_bytes > INT64_MAX / a.num_to_blocks)
    return invalid("block_bytes reaches beyond any memory");
  for (int64_t i = 0; i < a.num_pairs; ++i) {
    if (a.pairs[2 * i] < 0 || a.pairs[2 * i] >= a.num_from_blocks || a.pairs[2 * i + 1] < 0 ||
        a.pairs[2 * i + 1] >= a.num_to_blocks)
      return invalid("a block lies beyond its cache");
  }
  return {};
}

}  // namespace kvbudget::kernels

extern "C" int kvb_copy_pages_cpu(const kvb_copy_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_copy(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  return copy_runs(*args, [](void* to, const void* from, uint64_t bytes) {
    std::memmove(to, from, bytes);
    return KVB_OK;
  });
}
