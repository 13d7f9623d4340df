// Byte counts: 64 bit, checked, printed in GiB (2^30).
#pragma once

#include <cstdint>

namespace kvbudget::memory {

inline constexpr uint64_t kKiB = uint64_t{1} << 10;
inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kGiB = uint64_t{1} << 30;

inline double gib(uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }
inline double gib(int64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }

/// Products of shapes that no real model reaches saturate instead of wrapping, so that a hostile
/// config.json gives "does not fit" and never a small number.
inline uint64_t mul(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}
inline uint64_t add(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}
/// a - b, but never below 0.
inline uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
inline uint64_t ceil_div(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b + (a % b != 0); }

/// An estimate: the truth lies in [low, high], most likely at best.
struct Interval {
  uint64_t low = 0;
  uint64_t best = 0;
  uint64_t high = 0;
  static Interval exact(uint64_t bytes) { return {bytes, bytes, bytes}; }
};

}  // namespace kvbudget::memory
