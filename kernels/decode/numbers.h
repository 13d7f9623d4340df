// Numbers that every decode shares.
#pragma once

namespace kvbudget::kernels {

constexpr float kLog2E = 1.44269504f;
constexpr float kLn2 = 0.693147181f;

/// Running maxima start here instead of at minus infinity: their differences stay finite.
constexpr float kLowestScore = -1e30f;

}  // namespace kvbudget::kernels
