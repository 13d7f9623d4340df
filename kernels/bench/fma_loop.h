// Twelve accumulators: enough to hide the latency of a fused multiply-add (4 cycles, two a cycle).
#pragma once

#include "kernels/bench/limits.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

template <class V>
static double fma_loop(int64_t steps, float* sink) {
  constexpr int kAccumulators = 12;
  constexpr int kUnroll = 8;
  typename V::F sums[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) sums[i] = V::set1(static_cast<float>(i));
  const typename V::F a = V::set1(0.999f);
  const typename V::F b = V::set1(sink[0]);
  for (int64_t step = 0; step < steps; ++step) {
    for (int k = 0; k < kUnroll; ++k)
      for (int i = 0; i < kAccumulators; ++i) sums[i] = V::fma(sums[i], a, b);
  }
  for (int i = 0; i < kAccumulators; ++i) sink[0] += V::sum(sums[i]);
  return 2.0 * kAccumulators * kUnroll * V::kWidth * static_cast<double>(steps);
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
