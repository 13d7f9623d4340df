// Block copies as runs: pairs whose sources and targets both follow on become one copy.
#pragma once

#include "kernels/common/check.h"

namespace kvbudget::kernels {

Problem check_copy(const kvb_copy_args* args);
Problem check_swap(const kvb_swap_args* args);

/// One layer's part of a swap.
kvb_copy_args layer_of(const kvb_swap_args& args, int32_t layer);

/// Calls copy(to, from, bytes) for each run, until it returns something else than KVB_OK.
template <typename Copy>
int copy_runs(const kvb_copy_args& a, const Copy& copy) {
  for (int64_t i = 0; i < a.num_pairs;) {
    const int64_t from = a.pairs[2 * i];
    const int64_t to = a.pairs[2 * i + 1];
    int64_t run = 1;
    while (i + run < a.num_pairs && a.pairs[2 * (i + run)] == from + run &&
           a.pairs[2 * (i + run) + 1] == to + run)
      ++run;
    const int status = copy(static_cast<uint8_t*>(a.to) + to * a.block_bytes,
                            static_cast<const uint8_t*>(a.from) + from * a.block_bytes,
                            static_cast<uint64_t>(run * a.block_bytes));
    if (status != KVB_OK) return status;
    i += run;
  }
  return KVB_OK;
}

/// The same for every layer.
template <typename Copy>
int swap_runs(const kvb_swap_args& a, const Copy& copy) {
  for (int32_t layer = 0; layer < a.num_layers; ++layer) {
    if (const int status = copy_runs(layer_of(a, layer), copy)) return status;
  }
  return KVB_OK;
}

}  // namespace kvbudget::kernels
