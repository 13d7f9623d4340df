// The rest of the machine that decode's kernels need: tensor cores by the fragment tables of the
// PTX manual (9.7.14, mma.m16n8k16 and movmatrix), conversions of both generations, shuffles.
#pragma once

#include <cmath>

#include "kernels/common/float_bits.h"
#include "tests/kernels/host_warp.h"

namespace kvbudget::kernels::test {

/// How a generation reads FP8: sm_89 and later convert, and give NaN for NaN codes; earlier ones
/// shift bits, which gives e4m3 times 2^-8.
enum class Reading : uint8_t { kConverts, kShifts };

template <Reading kReading>
class HostDecodeWarp : public HostWarp {
 public:
  using HostWarp::HostWarp;

  template <ElementType kType>
  static constexpr float kDecodeScale =
      kReading == Reading::kShifts&& kType == ElementType::kFloat8E4M3 ? 256.f : 1.f;

  template <typename T>
  Lanes<T> constant(T x) const {
    Lanes<T> result;
    result.v.fill(x);
    return result;
  }

  void load64(const U64& from, const Bool& active, U32* words) {
    for (int i = 0; i < kLanes; ++i) {
      uint32_t loaded[2] = {};
      if (active[i]) std::memcpy(loaded, memory_->load(from[i], 8), 8);
      words[0][i] = loaded[0];
      words[1][i] = loaded[1];
    }
  }

  template <int kWords>
  void load_words(const uint8_t* base, const U32& offset, U32* words) {
    for (int i = 0; i < kLanes; ++i) {
      uint32_t loaded[kWords];
      std::memcpy(loaded, memory_->load(address(base) + offset[i], 4 * kWords), 4 * kWords);
      for (int k = 0; k < kWords; ++k) words[k][i] = loaded[k];
    }
  }

  U32 load_index(const int32_t* table, const U32& index, const Bool& active) {
    U32 result;
    for (int i = 0; i < kLanes; ++i) {
      if (active[i]) std::memcpy(&result[i], memory_->load(address(table + index[i]), 4), 4);
    }
    return result;
  }

  U32 load_byte(const uint8_t* base, const U32& offset) {
    return each([&](uint32_t at) { return uint32_t{*memory_->load(address(base) + at, 1)}; },
                offset);
  }

  F32 load_float(const float* base, const U32& index) {
    return each(
        [&](uint32_t at) {
          float x;
          std::memcpy(&x, memory_->load(address(base + at), 4), 4);
          return x;
        },
        index);
  }

  void store_float(float* base, const U32& index, const Bool& active, const F32& x) {
    for (int i = 0; i < kLanes; ++i) {
      if (active[i]) std::memcpy(memory_->store(address(base + index[i]), 4), &x[i], 4);
    }
  }

  void store_short(uint16_t* base, const U32& index, const U32& x) {
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(memory_->store(address(base + index[i]), 2), &x[i], 2);
  }

  uint32_t broadcast(const U32& x, int lane) const { return x[lane]; }

  template <typename T>
  Lanes<T> shuffle(const Lanes<T>& x, const U32& source) const {
    return each([&](uint32_t lane) { return x[static_cast<int>(lane)]; }, source);
  }

  bool any(const Bool& x) const {
    for (int i = 0; i < kLanes; ++i) {
      if (x[i]) return true;
    }
    return false;
  }

  static float exp2_uniform(float x) { return std::exp2(x); }
  static float log2_uniform(float x) { return std::log2(x); }
  F32 exp2(const F32& x) const { return each(exp2_uniform, x); }

  U32 pack(const F32& low, const F32& high) const {
    return each([](float x, float y) { return float_to_half(x) | float_to_half(y) << 16; }, low,
                high);
  }

  /// Two codes of a word, lower bytes first, as binary16.
  template <ElementType kType>
  U32 halves(const U32& word, int upper) const {
    return each(
        [=](uint32_t x) {
          const uint32_t pair = x >> (16 * upper);
          return half<kType>(pair & 0xff) | half<kType>((pair >> 8) & 0xff) << 16;
        },
        word);
  }

  U32 permute(const U32& a, const U32& b, uint32_t selector) const {
    return each(
        [=](uint32_t x, uint32_t y) {
          const uint64_t bytes = x | uint64_t{y} << 32;
          uint32_t result = 0;
          for (int i = 0; i < 4; ++i)
            result |= static_cast<uint32_t>(bytes >> (8 * ((selector >> (4 * i)) & 7)) & 0xff)
                      << (8 * i);
          return result;
        },
        a, b);
  }

  /// movmatrix.m8n8.trans: row l / 4, columns 2 (l % 4) and the next are lane l's.
  U32 transpose(const U32& x) const {
    uint32_t matrix[8][8];
    for (int l = 0; l < kLanes; ++l) {
      matrix[l / 4][2 * (l % 4)] = x[l] & 0xffff;
      matrix[l / 4][2 * (l % 4) + 1] = x[l] >> 16;
    }
    U32 result;
    for (int l = 0; l < kLanes; ++l)
      result[l] = matrix[2 * (l % 4)][l / 4] | matrix[2 * (l % 4) + 1][l / 4] << 16;
    return result;
  }

  void mma(F32* c, const U32& a0, const U32& a1, const U32& a2, const U32& a3, const U32& b0,
           const U32& b1) const {
    float a[16][16], b[16][8];
    for (int l = 0; l < kLanes; ++l) {
      const int g = l / 4;
      const int t = l % 4;
      unpack(a0[l], &a[g][2 * t], &a[g][2 * t + 1]);
      unpack(a1[l], &a[g + 8][2 * t], &a[g + 8][2 * t + 1]);
      unpack(a2[l], &a[g][2 * t + 8], &a[g][2 * t + 9]);
      unpack(a3[l], &a[g + 8][2 * t + 8], &a[g + 8][2 * t + 9]);
      unpack(b0[l], &b[2 * t][g], &b[2 * t + 1][g]);
      unpack(b1[l], &b[2 * t + 8][g], &b[2 * t + 9][g]);
    }
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < 4; ++i) {
        float sum = c[i][l];
        for (int k = 0; k < 16; ++k) sum += a[l / 4 + i / 2 * 8][k] * b[k][2 * (l % 4) + i % 2];
        c[i][l] = sum;
      }
    }
  }

 private:
  static void unpack(uint32_t pair, float* low, float* high) {
    *low = half_to_float(pair & 0xffff);
    *high = half_to_float(pair >> 16);
  }

  template <ElementType kType>
  static uint32_t half(uint32_t code) {
    constexpr bool kE4 = kType == ElementType::kFloat8E4M3;
    if (kReading == Reading::kShifts || !kE4) return code_to_half<kType>(code);
    if ((code & 0x7f) == 0x7f) return 0x7fff;
    return float_to_half(decode_fp8<kType>(code));
  }
};

}  // namespace kvbudget::kernels::test
