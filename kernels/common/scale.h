// Scales of a row: the smallest power of two that brings its largest magnitude into the format, or
// the float that brings it exactly to the format's end.
//
// A power of two makes every multiplication exact and takes one byte. On average over elements it
// costs no accuracy (e4m3 is scale-free inside its range), but it leaves the largest element as
// coarse as the others, and keys often have one dimension that outweighs the rest. So floats do
// better, and choosing among some of them better still: kernels/quantize/scale_search.h.
// Infinities and NaN do not take part in the maximum: an infinity saturates, the rest of its row
// keeps its precision.
#pragma once

#include "kernels/common/float_bits.h"
#include "kernels/layout/kv_page.h"

namespace kvbudget::kernels {

/// The largest finite value of both FP8 formats is 1.75 x 2^this.
template <ElementType kType>
inline constexpr uint32_t kMaxExponent = kType == ElementType::kFloat8E4M3 ? 8 : 15;

/// |x| as bits, 0 when it is not finite; bits of magnitudes order like the magnitudes.
KVB_HD uint32_t finite_magnitude(uint32_t bits) {
  const uint32_t magnitude = bits & kAbsMask;
  return magnitude >= kInfinityBits ? 0 : magnitude;
}

/// The byte of the scale of a row whose largest magnitude has the bits `amax`.
KVB_HD uint32_t scale_code(uint32_t amax, uint32_t max_exponent) {
  const uint32_t raised = (amax >> 23) + ((amax & 0x7fffff) > 0x600000 ? 1 : 0);
  const uint32_t code = raised > max_exponent ? raised - max_exponent : 0;
  return code < layout::kMinScaleCode   ? layout::kMinScaleCode
         : code > layout::kMaxScaleCode ? layout::kMaxScaleCode
                                        : code;
}

/// The float scale of the same row: x / scale reaches the largest finite value and no further.
KVB_HD float float_scale(uint32_t amax, uint32_t max_exponent) {
  const float scale = float_of(amax) / (1.75f * float_of((127 + max_exponent) << 23));
  return scale < 0x1p-126f ? 0x1p-126f : scale;
}

KVB_HD float scale_of_code(uint32_t code) { return float_of(code << 23); }
KVB_HD float inverse_scale_of_code(uint32_t code) { return float_of((254 - code) << 23); }

}  // namespace kvbudget::kernels
