// Eight floats at a time in plain C++, for machines without the others. See vector_avx512.h, whose
// functions these are.
#pragma once

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

struct VectorPortable {
  static constexpr int kWidth = 8;
  static constexpr int kMaxRows = 4;
  static constexpr bool kInterleaved = false;
  static constexpr int kKeyElements = 1;
  static constexpr int kValueTokens = 1;
  static constexpr int kMostDotRows = 0;
  static constexpr int kGroups = 1;
  template <ElementType kType>
  static constexpr int kPieceElements = 2 * kWidth;
  static constexpr float kE4Scale = kCodeScale<ElementType::kFloat8E4M3>;
  struct F {
    float v[kWidth];
  };

  template <typename Fn>
  static KVB_HD F make(const Fn& f) {
    F x;
    for (int i = 0; i < kWidth; ++i) x.v[i] = f(i);
    return x;
  }

  static KVB_HD F zero() { return set1(0.f); }
  static KVB_HD F set1(float x) {
    return make([=](int) { return x; });
  }
  static KVB_HD F load(const float* p) {
    return make([=](int i) { return p[i]; });
  }
  static KVB_HD void store(float* p, const F& x) {
    for (int i = 0; i < kWidth; ++i) p[i] = x.v[i];
  }
  static KVB_HD F add(const F& a, const F& b) {
    return make([&](int i) { return a.v[i] + b.v[i]; });
  }
  static KVB_HD F sub(const F& a, const F& b) {
    return make([&](int i) { return a.v[i] - b.v[i]; });
  }
  static KVB_HD F mul(const F& a, const F& b) {
    return make([&](int i) { return a.v[i] * b.v[i]; });
  }
  static KVB_HD F div(const F& a, const F& b) {
    return make([&](int i) { return a.v[i] / b.v[i]; });
  }
  static KVB_HD F fma(const F& a, const F& b, const F& c) {
    return make([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
  }
  static KVB_HD F max(const F& a, const F& b) {
    return make([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  static KVB_HD float sum(const F& x) {
    float total = 0.f;
    for (int i = 0; i < kWidth; ++i) total += x.v[i];
    return total;
  }
  static KVB_HD float largest(const F& x) {
    float most = x.v[0];
    for (int i = 1; i < kWidth; ++i) most = x.v[i] > most ? x.v[i] : most;
    return most;
  }
  static KVB_HD void store_sums(const F& a, const F& b, const F& c, const F& d, float* to) {
    const F* const all[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i) to[i] = sum(*all[i]);
  }
  static KVB_HD F keep(const F& x, int low, int high, const F& other) {
    return make([&](int i) { return low <= i && i < high ? x.v[i] : other.v[i]; });
  }
  static KVB_HD F round(const F& x) {
    constexpr float kMagic = 0x1.8p23f;  // floats beyond 2^22 have no fraction
    return make([&](int i) { return x.v[i] > -0x1p22f ? (x.v[i] + kMagic) - kMagic : x.v[i]; });
  }
  static KVB_HD F scale_by_power(const F& x, const F& n) {
    return make([&](int i) {
      if (!(n.v[i] >= -126.f)) return 0.f;
      return x.v[i] * float_of(static_cast<uint32_t>(static_cast<int32_t>(n.v[i]) + 127) << 23);
    });
  }

  template <ElementType kType, typename Fn>
  static KVB_HD void transpose(const uint8_t* base, int64_t stride, const int64_t* shift,
                               const Fn& f) {
    constexpr int kElements = kType == ElementType::kBFloat16 ? 8 : 16;
    for (int d = 0; d < kElements; ++d)
      f(d, make([&](int t) { return element<kType>(base + t * stride + shift[t % 8], d); }));
  }

  template <ElementType kType>
  static KVB_HD void load_pair(const uint8_t* p, F* low, F* high) {
    *low = make([=](int i) { return element<kType>(p, i); });
    *high = make([=](int i) { return element<kType>(p, kWidth + i); });
  }

  template <ElementType kType>
  static KVB_HD void load_piece(const uint8_t* p, F* vectors) {
    load_pair<kType>(p, &vectors[0], &vectors[1]);
  }
  template <ElementType kType>
  static constexpr int key_element(int vector, int lane, int) {
    return vector * kWidth + lane;
  }

  static float join_elements(const float* elements) { return elements[0]; }
  static KVB_HD F multiply_keys(const F& keys, const F& queries, const F& sums) {
    return fma(keys, queries, sums);
  }

 private:
  template <ElementType kType>
  static KVB_HD float element(const uint8_t* p, int i) {
    if constexpr (kType == ElementType::kBFloat16) {
      uint16_t bits;
      memcpy(&bits, p + 2 * i, sizeof bits);
      return bfloat16_to_float(bits);
    } else {
      return half_to_float(code_to_half<kType>(p[i]));
    }
  }
};

}  // namespace kvbudget::kernels
