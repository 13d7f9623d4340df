// The GPU as a machine: a lane value is a register. See quantize_body.h and, for the host's machine
// with the same functions, tests/kernels/host_warp.h.
//
// Instructions by generation (assembled with nvcc 13.0): cvt.rn.f16x2.e4m3x2 from sm_89; before,
// bits are shifted and values come times 2^-8.
#pragma once

#include <cuda_fp16.h>

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

struct DeviceWarp {
  using U32 = uint32_t;
  using U64 = uint64_t;
  using F32 = float;
  using Bool = bool;

#define KVB_DEVICE __device__ __forceinline__

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
  static constexpr bool kConverts = false;
#else
  static constexpr bool kConverts = true;
#endif

  template <ElementType kType>
  static constexpr float kDecodeScale =
      !kConverts && kType == ElementType::kFloat8E4M3 ? 256.f : 1.f;

  KVB_DEVICE uint32_t lane() const { return threadIdx.x & 31; }

  template <typename F, typename... T>
  KVB_DEVICE auto each(F&& f, const T&... x) const {
    return f(x...);
  }

  template <typename T>
  KVB_DEVICE T constant(T x) const {
    return x;
  }

  KVB_DEVICE uint64_t address(const void* p) const { return reinterpret_cast<uint64_t>(p); }

  template <typename T>
  KVB_DEVICE T load_uniform(const T* from) const {
    return *from;
  }

  KVB_DEVICE void load128(uint64_t from, bool active, uint32_t* words) const {
    uint4 x = {0, 0, 0, 0};
    if (active) x = *reinterpret_cast<const uint4*>(from);
    words[0] = x.x;
    words[1] = x.y;
    words[2] = x.z;
    words[3] = x.w;
  }

  KVB_DEVICE void load64(uint64_t from, bool active, uint32_t* words) const {
    uint2 x = {0, 0};
    if (active) x = *reinterpret_cast<const uint2*>(from);
    words[0] = x.x;
    words[1] = x.y;
  }

  /// Of pages: read once, so past the first-level cache.
  template <int kWords>
  KVB_DEVICE void load_words(const uint8_t* base, uint32_t offset, uint32_t* words) const {
    const uint8_t* from = base + offset;
    if constexpr (kWords == 4) {
      asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3},[%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "l"(from));
    } else if constexpr (kWords == 2) {
      asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%0,%1},[%2];"
                   : "=r"(words[0]), "=r"(words[1])
                   : "l"(from));
    } else {
      asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0,[%1];"
                   : "=r"(words[0])
                   : "l"(from));
    }
  }

  KVB_DEVICE uint32_t load_index(const int32_t* table, uint32_t index, bool active) const {
    return active ? static_cast<uint32_t>(table[index]) : 0;
  }
  KVB_DEVICE uint32_t load_byte(const uint8_t* base, uint32_t offset) const { return base[offset]; }
  KVB_DEVICE float load_float(const float* base, uint32_t index) const { return base[index]; }

  KVB_DEVICE void store_float(float* base, uint32_t index, bool active, float x) const {
    if (active) base[index] = x;
  }
  KVB_DEVICE void store_short(uint16_t* base, uint32_t index, uint32_t x) const {
    base[index] = static_cast<uint16_t>(x);
  }
  KVB_DEVICE void store64(uint64_t to, bool active, uint32_t low, uint32_t high) const {
    if (active) *reinterpret_cast<uint2*>(to) = make_uint2(low, high);
  }
  KVB_DEVICE void store32(uint64_t to, bool active, uint32_t x) const {
    if (active) *reinterpret_cast<uint32_t*>(to) = x;
  }
  KVB_DEVICE void store8(uint64_t to, bool active, uint32_t x) const {
    if (active) *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(x);
  }
  KVB_DEVICE void add_nonzero(uint64_t* to, uint32_t x) const {
    if (x != 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), x);
  }

  template <typename T>
  KVB_DEVICE T shuffle_xor(T x, int distance) const {
    return __shfl_xor_sync(~0u, x, distance);
  }
  template <typename T>
  KVB_DEVICE T shuffle(T x, uint32_t source) const {
    return __shfl_sync(~0u, x, static_cast<int>(source));
  }
  KVB_DEVICE uint32_t broadcast(uint32_t x, int lane) const { return __shfl_sync(~0u, x, lane); }
  KVB_DEVICE bool any(bool x) const { return __any_sync(~0u, x); }

  KVB_DEVICE float exp2(float x) const {
    float y;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
    return y;
  }
  KVB_DEVICE float exp2_uniform(float x) const { return exp2(x); }
  KVB_DEVICE float log2_uniform(float x) const { return __log2f(x); }

  KVB_DEVICE uint32_t pack(float low, float high) const {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }

  template <ElementType kType>
  KVB_DEVICE uint32_t halves(uint32_t word, int upper) const {
    if constexpr (kConverts && kType == ElementType::kFloat8E4M3) {
      uint32_t result;
      const uint16_t pair = static_cast<uint16_t>(word >> (16 * upper));
      asm("cvt.rn.f16x2.e4m3x2 %0,%1;" : "=r"(result) : "h"(pair));
      return result;
    } else {
      const uint32_t high_bytes = __byte_perm(word, 0, upper != 0 ? 0x3424 : 0x1404);
      if (kType == ElementType::kFloat8E5M2) return high_bytes;
      return (high_bytes & 0x80008000) | ((high_bytes & 0x7f007f00) >> 1);
    }
  }

  KVB_DEVICE uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) const {
    return __byte_perm(a, b, selector);
  }

  KVB_DEVICE uint32_t transpose(uint32_t x) const {
    uint32_t y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(y) : "r"(x));
    return y;
  }

  KVB_DEVICE void mma(float* c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                      uint32_t b1) const {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }

#undef KVB_DEVICE
};

}  // namespace kvbudget::kernels
