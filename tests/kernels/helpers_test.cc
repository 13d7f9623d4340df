// Helpers on pages: what was written comes back, conversions keep the nearest codes, copies copy.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/pages/read_row.h"
#include "tests/kernels/decode_case.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

namespace {

struct Dense {
  std::vector<float> keys, values;
  kvb_gather_args args;
};

Dense gather(const kvb_pages& pages, const std::vector<int64_t>& slots) {
  const size_t count = slots.size() * static_cast<size_t>(pages.num_kv_heads * pages.head_dim);
  Dense dense{std::vector<float>(count, -7.f), std::vector<float>(count, -7.f), {}};
  kvb_gather_args& a = dense.args;
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.pages = pages;
  a.keys = dense.keys.data();
  a.values = dense.values.data();
  a.key_head_stride = a.value_head_stride = pages.head_dim;
  a.key_token_stride = a.value_token_stride = int64_t{pages.head_dim} * pages.num_kv_heads;
  a.slots = slots.data();
  a.num_tokens = static_cast<int64_t>(slots.size());
  a.num_threads = 2;
  REQUIRE(kvb_gather_dequantize_cpu(&a, nullptr) == KVB_OK);
  return dense;
}

Cache filled(const CacheShape& shape, const Tokens& tokens, const std::vector<int64_t>& slots) {
  Cache cache = make_cache(shape, 0xff);
  const AlignedBytes keys = to_bytes(tokens.keys, KVB_FLOAT32);
  const AlignedBytes values = to_bytes(tokens.values, KVB_FLOAT32);
  const kvb_quantize_args a = make_quantize_args(cache.pages, keys, values, KVB_FLOAT32, slots);
  REQUIRE(kvb_quantize_kv_cpu(&a, nullptr) == KVB_OK);
  return cache;
}

const std::vector<int64_t> kSlots = {5, 90, -1, 0, 44, 17, 95};

}  // namespace

TEST_CASE("Gathering gives back what was quantised, within half a step of its code") {
  for (const int32_t type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2}) {
    for (const int32_t swizzle : {0, 1}) {
      CacheShape shape;
      shape.type = type;
      shape.swizzle = swizzle;
      const Tokens tokens = make_tokens(7, 2, 128, false, 4);
      const Cache cache = filled(shape, tokens, kSlots);
      const Dense dense = gather(cache.pages, kSlots);
      const float step = type == KVB_FLOAT8_E4M3 ? 0x1p-4f : 0x1p-3f;
      for (size_t i = 0; i < dense.keys.size(); ++i) {
        if (kSlots[i / 256] < 0) {
          REQUIRE(dense.keys[i] == -7.f);
          continue;
        }
        REQUIRE(std::fabs(dense.values[i] - tokens.values[i]) <=
                step * std::fabs(tokens.values[i]) + 0.01f);
        REQUIRE(std::fabs(dense.keys[i] - tokens.keys[i]) <=
                step * std::fabs(tokens.keys[i]) + 0.01f);
      }
    }
  }
}

TEST_CASE("Converting between formats equals quantising what the source holds") {
  for (const int32_t from_type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2}) {
    for (const int32_t to_type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2}) {
      CacheShape plain;
      plain.type = from_type;
      plain.scales = KVB_SCALES_HEAD;
      plain.view = View::kPackedNhd;
      const Tokens tokens = make_tokens(7, 2, 128, false, 4);
      const Cache source = filled(plain, tokens, kSlots);
      const Dense held = gather(source.pages, kSlots);
      CacheShape shape;
      shape.type = to_type;
      Cache converted = make_cache(shape, 0xff);
      std::vector<int64_t> to = kSlots;
      std::reverse(to.begin(), to.end());
      kvb_convert_args a{};
      a.struct_bytes = sizeof a;
      a.abi_version = KVB_ABI_VERSION;
      a.from = source.pages;
      a.to = converted.pages;
      a.from_slots = kSlots.data();
      a.to_slots = to.data();
      a.num_tokens = 7;
      REQUIRE(kvb_convert_pages_cpu(&a, nullptr) == KVB_OK);
      std::vector<int64_t> both = to;
      for (size_t i = 0; i < both.size(); ++i) both[i] = kSlots[i] < 0 ? -1 : to[i];
      const Cache expected = filled(shape, Tokens{held.keys, held.values, 7}, both);
      CHECK(std::memcmp(converted.bytes.data(), expected.bytes.data(), expected.bytes.size()) == 0);
    }
  }
}

TEST_CASE("Copies move whole blocks, runs or not, and nothing else") {
  constexpr int64_t kBlock = 24;
  std::vector<uint8_t> from(10 * kBlock), to(8 * kBlock, 0xee);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i);
  const int64_t pairs[] = {2, 0, 3, 1, 4, 2, 9, 7, 0, 5};
  kvb_copy_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.from = from.data();
  a.to = to.data();
  a.block_bytes = kBlock;
  a.num_from_blocks = 10;
  a.num_to_blocks = 8;
  a.pairs = pairs;
  a.num_pairs = 5;
  REQUIRE(kvb_copy_pages_cpu(&a, nullptr) == KVB_OK);
  const int source_of[] = {2, 3, 4, -1, -1, 0, -1, 9};
  for (size_t i = 0; i < to.size(); ++i) {
    const int source = source_of[i / kBlock];
    const uint8_t expected =
        source < 0 ? 0xee : from[static_cast<size_t>(source) * kBlock + i % kBlock];
    REQUIRE(to[i] == expected);
  }
  a.num_to_blocks = 7;
  CHECK(kvb_copy_pages_cpu(&a, nullptr) == KVB_INVALID_ARGUMENT);
}

TEST_CASE("Swaps move the same blocks of every layer, or none if a cache is missing") {
  constexpr int64_t kBlock = 8;
  constexpr size_t kLayers = 3;
  std::vector<std::vector<uint8_t>> device(kLayers), host(kLayers);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (size_t i = 0; i < 6 * kBlock; ++i)
      device[layer].push_back(static_cast<uint8_t>(100 * layer + i));
    host[layer].assign(4 * kBlock, 0xee);
    from.push_back(device[layer].data());
    to.push_back(host[layer].data());
  }
  const int64_t pairs[] = {4, 0, 5, 1, 1, 3};
  kvb_swap_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.from = from.data();
  a.to = to.data();
  a.block_bytes = kBlock;
  a.num_from_blocks = 6;
  a.num_to_blocks = 4;
  a.pairs = pairs;
  a.num_pairs = 3;
  a.num_layers = kLayers;
  const std::vector<std::vector<uint8_t>> untouched = host;
  to[2] = nullptr;
  CHECK(kvb_swap_pages_cpu(&a, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(host == untouched);
  to[2] = host[2].data();
  REQUIRE(kvb_swap_pages_cpu(&a, nullptr) == KVB_OK);
  const int source_of[] = {4, 5, -1, 1};
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (size_t i = 0; i < host[layer].size(); ++i) {
      const int source = source_of[i / kBlock];
      REQUIRE(
          host[layer][i] ==
          (source < 0 ? 0xee : device[layer][static_cast<size_t>(source) * kBlock + i % kBlock]));
    }
  }
  a.num_layers = -1;
  CHECK(kvb_swap_pages_cpu(&a, nullptr) == KVB_INVALID_ARGUMENT);
}

TEST_CASE("Calibration finds each head's largest finite magnitude") {
  CacheShape shape;
  Cache cache = make_cache(shape, 0);
  Tokens tokens = make_tokens(9, 2, 128, true, 4);
  tokens.keys[5 * 256 + 128 + 3] = -1234.f;
  const AlignedBytes keys = to_bytes(tokens.keys, KVB_FLOAT32);
  const AlignedBytes values = to_bytes(tokens.values, KVB_FLOAT32);
  const std::vector<int64_t> slots(9, 0);
  kvb_quantize_args a = make_quantize_args(cache.pages, keys, values, KVB_FLOAT32, slots);
  float expected[2][2] = {};
  for (size_t i = 0; i < tokens.keys.size(); ++i) {
    const size_t head = i / 128 % 2;
    if (std::isfinite(tokens.keys[i]))
      expected[0][head] = std::max(expected[0][head], std::fabs(tokens.keys[i]));
    if (std::isfinite(tokens.values[i]))
      expected[1][head] = std::max(expected[1][head], std::fabs(tokens.values[i]));
  }
  float key_amax[2] = {}, value_amax[2] = {};
  REQUIRE(kvb_scan_amax_cpu(&a, key_amax, value_amax) == KVB_OK);
  for (int head = 0; head < 2; ++head) {
    CHECK(key_amax[head] == expected[0][head]);
    CHECK(value_amax[head] == expected[1][head]);
  }
  CHECK(key_amax[1] >= 1234.f);
}

TEST_CASE("Verification finds NaN codes and wild scales, and none in what the quantiser wrote") {
  CacheShape shape;
  Cache cache = filled(shape, make_tokens(7, 2, 128, true, 4), kSlots);
  uint64_t nan_codes = 0;
  uint64_t bad_scales = 0;
  REQUIRE(kvb_verify_pages_cpu(&cache.pages, kSlots.data(), 7, &nan_codes, &bad_scales) == KVB_OK);
  CHECK(nan_codes == 0);
  CHECK(bad_scales == 0);
  const std::vector<int64_t> unwritten = {50};
  REQUIRE(kvb_verify_pages_cpu(&cache.pages, unwritten.data(), 1, &nan_codes, &bad_scales) ==
          KVB_OK);
  CHECK(nan_codes == 2 * 2 * 128);
  CHECK(bad_scales == 2 * 2);
}
