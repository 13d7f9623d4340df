// The float scale of a row: of some that bring its largest magnitude to the format's end or up to
// an octave below it, the one whose codes lie nearest to the row.
//
// FP8 is as coarse everywhere in its range, so any of them does on average; but a row has few
// large elements, whose rounding makes most of its error, and by how much each is rounded changes
// with the scale. The best of fourteen leaves 72 to 85 % of the squared error of the first for
// Gaussian rows of 64 to 256 and two thirds for keys of SmolLM2-135M; more candidates, or a scale
// fitted to the codes, gain 3 % more. Readers multiply by whatever scale there is.
//
// Errors are summed as integers, in units of the row's largest magnitude x 2^-15, so that the sum
// does not depend on the order, and all machines choose alike.
#pragma once

#include "kernels/common/scale.h"

namespace kvbudget::kernels {

/// Candidate i brings the row's largest magnitude to (28 - i) / 28 of the format's largest value:
/// steps of 16 from 448 to 240 in e4m3, twice as fine as its codes there.
constexpr int kScaleCandidates = 14;
constexpr int kScaleSteps = 28;

struct ScaleCandidate {
  float inverse;  // of the scale
  float unit;     // takes an error in ulps of a float x 2^exponent to units
};

/// `exact`: the scale under which the largest magnitude becomes the format's largest value.
template <ElementType kType>
KVB_HD ScaleCandidate scale_candidate(float exact, int i) {
  constexpr float kLargest = 1.75f * (kMaxExponent<kType> == 8 ? 0x1p8f : 0x1p15f);
  const float reach = static_cast<float>(kScaleSteps - i) / static_cast<float>(kScaleSteps);
  return {reach / exact, 0x1p-8f / (kLargest * reach)};  // 2^15 units x 2^-23, an ulp's weight
}

KVB_HD float candidate_scale(float exact, int i) {
  return exact * (static_cast<float>(kScaleSteps) / static_cast<float>(kScaleSteps - i));
}

/// The squared distance of x from its nearest code under a candidate's scale, in units squared. At
/// most 3641^2 (e5m2, midway to the code above a power of two), so that the sum of a row of 256
/// fits 32 bits. 0 for what is not finite. Distances below the format's normal range are
/// understated; they are less than a unit.
template <ElementType kType>
KVB_HD uint32_t squared_error(float x, const ScaleCandidate& candidate) {
  constexpr uint32_t kShift = kType == ElementType::kFloat8E4M3 ? 20 : 21;
  const uint32_t y = bits_of(float_of(finite_magnitude(bits_of(x))) * candidate.inverse);
  const uint32_t above = y & ((1u << kShift) - 1);
  const uint32_t below = (1u << kShift) - above;
  const uint32_t ulps = above < below ? above : below;
  const float power = float_of(y & kInfinityBits);
  const auto error = static_cast<int32_t>(static_cast<float>(static_cast<int32_t>(ulps)) *
                                          (power * candidate.unit));
  return static_cast<uint32_t>(error * error);
}

}  // namespace kvbudget::kernels
