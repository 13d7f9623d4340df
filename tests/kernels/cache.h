// A paged cache and tokens to write into it, for tests: shapes, random data with the outliers of
// real keys, shuffled slots, and memory that is poisoned before a kernel writes it.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels::test {

enum class View : uint8_t { kP1, kPackedHnd, kPackedNhd, kSplit, kInline };

struct CacheShape {
  int32_t head_dim = 128;
  int32_t block_tokens = 16;
  int32_t num_kv_heads = 2;
  int64_t num_blocks = 6;
  int32_t type = KVB_FLOAT8_E4M3;
  int32_t scales = KVB_SCALES_TOKEN_HEAD_E8M0;
  int32_t swizzle = 0;
  View view = View::kP1;

  std::string text() const;
};

/// Bytes aligned like a GPU allocation.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes = 0, uint8_t fill = 0);
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  std::vector<uint8_t> storage_;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;

 public:
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  AlignedBytes(AlignedBytes&&) = default;
  AlignedBytes& operator=(AlignedBytes&&) = default;
};

struct Cache {
  CacheShape shape;
  AlignedBytes bytes;
  std::vector<float> key_scales, value_scales;  // static ones, [num_kv_heads]
  kvb_pages pages;
};

/// `fill` stands in every byte: 0xff is FP8's NaN code and a huge scale.
Cache make_cache(const CacheShape& shape, uint8_t fill);

/// Gaussian rows with two outlier channels in K, as Qwen2.5's have, and long-tailed V; then a zero
/// row, infinities and NaN where `hostile`.
struct Tokens {
  std::vector<float> keys, values;  // [num_tokens, num_kv_heads, head_dim]
  int64_t num_tokens;
};
Tokens make_tokens(int64_t num_tokens, int32_t num_kv_heads, int32_t head_dim, bool hostile,
                   uint32_t seed);

/// `x` in a kvb_type's bytes.
AlignedBytes to_bytes(const std::vector<float>& x, int32_t type);
/// `x` as that type stores it.
std::vector<float> rounded(const std::vector<float>& x, int32_t type);

kvb_quantize_args make_quantize_args(const kvb_pages& pages, const AlignedBytes& keys,
                                     const AlignedBytes& values, int32_t type,
                                     const std::vector<int64_t>& slots);

}  // namespace kvbudget::kernels::test
