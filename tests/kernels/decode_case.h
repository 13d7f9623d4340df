// A batch of sequences over a paged cache, and attention over it in double: what every decode is
// compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/kernels/cache.h"

namespace kvbudget::kernels::test {

struct DecodeShape {
  CacheShape cache;
  int32_t group = 4;
  int32_t query_tokens = 1;
  int32_t query_type = KVB_BFLOAT16;
  int32_t output_type = KVB_FLOAT32;
  int32_t window = 0;
  float soft_cap = 0.f;
  bool sinks = false;
  float data_scale = 1.f;  ///< of K and V; scores stay what they are
  std::vector<int32_t> lengths = {1000, 17, 16, 15, 1};
};

struct DecodeCase {
  DecodeShape shape;
  Cache cache;
  std::vector<std::vector<float>> keys, values;  // per sequence [length, heads, dim], unquantised
  std::vector<float> queries;                    // as their type stores them
  AlignedBytes query_bytes, output_bytes;
  std::vector<int32_t> block_table;
  std::vector<float> sinks, lse;
  kvb_decode_args args;

  size_t num_rows() const;  ///< query tokens x query heads of the batch
  std::vector<float> output() const;
};

/// Blocks in a shuffled order, rows that hold no token full of NaN codes.
DecodeCase make_decode_case(const DecodeShape& shape, uint32_t seed);

/// What the cache holds: the codes by their definition times their scales.
std::vector<double> cached_row(const DecodeCase& c, int32_t sequence, int32_t token, int32_t head,
                               bool value);

enum class Data : uint8_t { kCached, kUnquantised };

struct Attention {
  std::vector<double> output, lse;
};
Attention reference(const DecodeCase& c, Data data);

/// |a - b| / |b|, over everything.
double relative_error(const std::vector<float>& a, const std::vector<double>& b);

}  // namespace kvbudget::kernels::test
