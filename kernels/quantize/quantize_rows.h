// The CPU's quantiser of one row, plain loops that the compiler vectorises: the arithmetic is that
// of float_bits.h and scale.h, so its bytes are the GPU's. Included by one file per instruction
// set, each with its own compiler flags and its own namespace.
#pragma once

#include "kernels/common/page_row.h"
#include "kernels/common/scale.h"
#include "kernels/quantize/quantize_cpu.h"
#include "kernels/quantize/scale_search.h"

namespace kvbudget::kernels {

namespace KVB_ISA_NAMESPACE {

constexpr int kMaxDim = 256;

template <ElementType kInput>
static uint32_t load_row(const void* from, int dim, float* x, uint32_t* amax) {
  const auto* elements = static_cast<const typename Element<kInput>::Storage*>(from);
  uint32_t nans = 0;
  uint32_t largest = 0;
  for (int d = 0; d < dim; ++d) {
    x[d] = Element<kInput>::load(elements[d]);
    const uint32_t bits = bits_of(x[d]);
    const uint32_t magnitude = finite_magnitude(bits);
    largest = magnitude > largest ? magnitude : largest;
    nans += is_nan_bits(bits) ? 1 : 0;
  }
  *amax = largest;
  return nans;
}

template <ElementType kType>
static float nearest_scale(const float* x, int dim, uint32_t amax) {
  const float exact = float_scale(amax, kMaxExponent<kType>);
  int best = 0;
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < kScaleCandidates; ++i) {
    const ScaleCandidate candidate = scale_candidate<kType>(exact, i);
    uint32_t sum = 0;
    for (int d = 0; d < dim; ++d) sum += squared_error<kType>(x[d], candidate);
    if (sum >= least) continue;
    least = sum;
    best = i;
  }
  return candidate_scale(exact, best);
}

template <ElementType kType>
static void encode_row(const RowTarget& target, const float* x, uint32_t amax) {
  alignas(64) uint8_t codes[kMaxDim];
  if (target.token_scale != nullptr && target.scale_bytes == 1) {
    const uint32_t code = scale_code(amax, kMaxExponent<kType>);
    const float inverse = inverse_scale_of_code(code);
    for (int d = 0; d < target.head_dim; ++d)
      codes[d] = static_cast<uint8_t>(encode_fp8<kType>(x[d] * inverse));
    *target.token_scale = static_cast<uint8_t>(code);
  } else {
    float scale = target.static_scale;
    if (target.token_scale != nullptr) {
      scale = nearest_scale<kType>(x, target.head_dim, amax);
      memcpy(target.token_scale, &scale, sizeof scale);
    }
    for (int d = 0; d < target.head_dim; ++d)
      codes[d] = static_cast<uint8_t>(encode_fp8<kType>(x[d] / scale));
  }
  if (!target.swizzle) {
    memcpy(target.codes, codes, static_cast<size_t>(target.head_dim));
    return;
  }
  for (uint32_t unit = 0; unit * 16 < static_cast<uint32_t>(target.head_dim); ++unit)
    memcpy(target.codes + 16 * layout::swizzled_unit(unit, target.token), codes + 16 * unit, 16);
}

static uint32_t quantize_row(const void* from, int32_t input_type, const RowTarget& target) {
  float x[kMaxDim];
  uint32_t amax = 0;
  uint32_t nans = 0;
  if (input_type == KVB_BFLOAT16) {
    nans = load_row<ElementType::kBFloat16>(from, target.head_dim, x, &amax);
  } else if (input_type == KVB_FLOAT16) {
    nans = load_row<ElementType::kFloat16>(from, target.head_dim, x, &amax);
  } else {
    nans = load_row<ElementType::kFloat32>(from, target.head_dim, x, &amax);
  }
  if (target.type == KVB_FLOAT8_E4M3) {
    encode_row<ElementType::kFloat8E4M3>(target, x, amax);
  } else {
    encode_row<ElementType::kFloat8E5M2>(target, x, amax);
  }
  return nans;
}

}  // namespace KVB_ISA_NAMESPACE
}  // namespace kvbudget::kernels
