// Functions of whole vectors that attention needs, over the vector type of an instruction set.
#pragma once

#include "kernels/common/hd.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

template <class V>
KVB_HD typename V::F exp2(typename V::F x) {
  using F = typename V::F;
  const F whole = V::round(x);
  const F fraction = V::sub(x, whole);
  // Taylor's series of 2^x about 0: the next term is below 2e-7 of the sum at |x| = 1/2.
  F y = V::set1(1.5403530e-4f);
  y = V::fma(y, fraction, V::set1(1.3333558e-3f));
  y = V::fma(y, fraction, V::set1(9.6181291e-3f));
  y = V::fma(y, fraction, V::set1(5.5504109e-2f));
  y = V::fma(y, fraction, V::set1(2.4022651e-1f));
  y = V::fma(y, fraction, V::set1(6.9314718e-1f));
  y = V::fma(y, fraction, V::set1(1.f));
  return V::scale_by_power(y, whole);
}

/// cap x tanh(x / cap); scores are in units of log2, so the exponential is exp2's.
template <class V>
KVB_HD typename V::F soften(typename V::F x, float cap) {
  using F = typename V::F;
  // tanh(y) = 1 - 2 / (e^(2y) + 1), and beyond |y| = 20 it is 1 in binary32.
  const F ratio = V::mul(x, V::set1(2.f * 1.44269504f / cap));
  const F bounded =
      V::max(V::sub(V::zero(), V::max(V::sub(V::zero(), ratio), V::set1(-60.f))), V::set1(-60.f));
  const F e = exp2<V>(bounded);
  return V::mul(V::set1(cap), V::sub(V::set1(1.f), V::div(V::set1(2.f), V::add(e, V::set1(1.f)))));
}

/// Scores to weights in place; returns the factor that brings the row's earlier sums to the new
/// maximum.
template <class V>
KVB_HD float to_weights(float* scores, int count, float largest, float* row_max, float* row_sum) {
  using F = typename V::F;
  const float top = largest > *row_max ? largest : *row_max;
  const float factor = *row_max == top ? 1.f : __builtin_exp2f(*row_max - top);
  F sum = V::zero();
  for (int at = 0; at < count; at += V::kWidth) {
    const F weight = exp2<V>(V::sub(V::load(scores + at), V::set1(top)));
    sum = V::add(sum, weight);
    V::store(scores + at, weight);
  }
  *row_sum = *row_sum * factor + V::sum(sum);
  *row_max = top;
  return factor;
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
