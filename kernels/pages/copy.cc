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

kvb_copy_args layer_of(const kvb_swap_args& a, int32_t layer) {
  kvb_copy_args copy{};
  copy.struct_bytes = sizeof copy;
  copy.abi_version = KVB_ABI_VERSION;
  copy.from = a.from[layer];
  copy.to = a.to[layer];
  copy.block_bytes = a.block_bytes;
  copy.num_from_blocks = a.num_from_blocks;
  copy.num_to_blocks = a.num_to_blocks;
  copy.pairs = a.pairs;
  copy.num_pairs = a.num_pairs;
  return copy;
}

Problem check_swap(const kvb_swap_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  if (args->num_layers < 0) return invalid("num_layers is negative");
  if (args->num_layers == 0) return {};
  if (args->from == nullptr || args->to == nullptr) return invalid("a list of caches is null");
  for (int32_t layer = 0; layer < args->num_layers; ++layer) {
    const kvb_copy_args copy = layer_of(*args, layer);
    if (const Problem problem = check_copy(&copy)) return problem;
  }
  return {};
}

namespace {

int copy_on_host(void* to, const void* from, uint64_t bytes) {
  std::memmove(to, from, bytes);
  return KVB_OK;
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_copy_pages_cpu(const kvb_copy_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_copy(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  return copy_runs(*args, copy_on_host);
}

extern "C" int kvb_swap_pages_cpu(const kvb_swap_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_swap(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  return swap_runs(*args, copy_on_host);
}
