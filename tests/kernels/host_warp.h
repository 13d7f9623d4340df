// The machine that runs a kernel's source on the host: a warp whose lane values are arrays of 32
// and whose memory is checked. Divergence does not exist here: each() computes all lanes.
#pragma once

#include <cstring>
#include <type_traits>

#include "tests/kernels/checked_memory.h"
#include "tests/kernels/lanes.h"

namespace kvbudget::kernels::test {

class HostWarp {
 public:
  using U32 = Lanes<uint32_t>;
  using U64 = Lanes<uint64_t>;
  using F32 = Lanes<float>;
  using Bool = Lanes<bool>;

  explicit HostWarp(CheckedMemory& memory) : memory_(&memory) {}

  U32 lane() const {
    U32 result;
    for (int i = 0; i < kLanes; ++i) result[i] = static_cast<uint32_t>(i);
    return result;
  }

  template <typename F, typename... T>
  auto each(F&& f, const Lanes<T>&... x) const {
    Lanes<std::decay_t<decltype(f(x[0]...))>> result;
    for (int i = 0; i < kLanes; ++i) result[i] = f(x[i]...);
    return result;
  }

  uint64_t address(const void* p) const { return reinterpret_cast<uint64_t>(p); }

  template <typename T>
  T load_uniform(const T* from) const {
    T x;
    std::memcpy(&x, memory_->load(address(from), sizeof(T)), sizeof(T));
    return x;
  }

  void load128(const U64& from, const Bool& active, U32* words) {
    for (int i = 0; i < kLanes; ++i) {
      uint32_t loaded[4] = {};
      if (active[i]) std::memcpy(loaded, memory_->load(from[i], 16), 16);
      for (int k = 0; k < 4; ++k) words[k][i] = loaded[k];
    }
  }

  void store64(const U64& to, const Bool& active, const U32& low, const U32& high) {
    for (int i = 0; i < kLanes; ++i) {
      const uint32_t words[2] = {low[i], high[i]};
      if (active[i]) std::memcpy(memory_->store(to[i], 8), words, 8);
    }
  }

  void store32(const U64& to, const Bool& active, const U32& x) {
    for (int i = 0; i < kLanes; ++i) {
      if (active[i]) std::memcpy(memory_->store(to[i], 4), &x.v[static_cast<size_t>(i)], 4);
    }
  }

  void store8(const U64& to, const Bool& active, const U32& x) {
    for (int i = 0; i < kLanes; ++i) {
      if (active[i]) *memory_->store(to[i], 1) = static_cast<uint8_t>(x[i]);
    }
  }

  template <typename T>
  Lanes<T> shuffle_xor(const Lanes<T>& x, int distance) const {
    Lanes<T> result;
    for (int i = 0; i < kLanes; ++i) result[i] = x[i ^ distance];
    return result;
  }

  void add_nonzero(uint64_t* to, const U32& x) {
    uint64_t* counter = memory_->atomic(address(to));
    for (int i = 0; i < kLanes; ++i) *counter += x[i];
  }

 protected:
  CheckedMemory* memory_;
};

}  // namespace kvbudget::kernels::test
