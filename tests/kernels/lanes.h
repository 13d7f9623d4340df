// 32 lanes' values of one variable of a warp.
#pragma once

#include <array>
#include <cstdint>

namespace kvbudget::kernels::test {

constexpr int kLanes = 32;

template <typename T>
struct Lanes {
  std::array<T, kLanes> v{};

  T& operator[](int lane) { return v[static_cast<size_t>(lane)]; }
  const T& operator[](int lane) const { return v[static_cast<size_t>(lane)]; }
};

}  // namespace kvbudget::kernels::test
