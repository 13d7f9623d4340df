// The quantiser against its definition in double, and the kernel's own source, run lane by lane,
// and every instruction set against each other, byte for byte.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "kernels/common/check.h"
#include "kernels/common/page_row.h"
#include "kernels/layout/kv_page.h"
#include "kernels/quantize/quantize_body.h"
#include "kernels/quantize/quantize_cpu.h"
#include "tests/kernels/cache.h"
#include "tests/kernels/host_warp.h"
#include "tests/kernels/reference_codes.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

namespace {

constexpr uint8_t kPoison = 0xff;

std::vector<CacheShape> shapes() {
  std::vector<CacheShape> all;
  for (const int32_t dim : {64, 96, 128, 256}) {
    for (const int32_t block : {16, 32, 48, 128}) {
      for (const int32_t scales : {KVB_SCALES_NONE, KVB_SCALES_TENSOR, KVB_SCALES_HEAD,
                                   KVB_SCALES_TOKEN_HEAD_E8M0, KVB_SCALES_TOKEN_HEAD_F32}) {
        for (const int32_t type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2}) {
          CacheShape shape;
          shape.head_dim = dim;
          shape.block_tokens = block;
          shape.scales = scales;
          shape.type = type;
          all.push_back(shape);
          if (dim % 128 == 0 && block == 16) {
            all.push_back(shape);
            all.back().swizzle = 1;
          }
          if (block != 32 || has_token_scales(scales)) continue;
          for (const View view : {View::kPackedHnd, View::kPackedNhd, View::kSplit}) {
            all.push_back(shape);
            all.back().view = view;
          }
        }
      }
    }
  }
  return all;
}

/// Rows of all blocks in a shuffled order; some tokens are left out.
std::vector<int64_t> make_slots(const CacheShape& shape, int64_t num_tokens) {
  std::vector<int64_t> slots;
  for (int64_t slot = 0; slot < shape.num_blocks * shape.block_tokens; ++slot)
    slots.push_back(slot);
  std::mt19937 random(3);
  std::shuffle(slots.begin(), slots.end(), random);
  slots.resize(static_cast<size_t>(num_tokens));
  slots[2] = -1;
  return slots;
}

/// Runs the kernel's source on checked memory; returns what was wrong with its accesses.
std::vector<std::string> run_body(Cache& cache, kvb_quantize_args a, const AlignedBytes& keys,
                                  const AlignedBytes& values, uint64_t* nans) {
  CheckedMemory memory;
  memory.writable("pages", cache.bytes.data(), cache.bytes.size());
  memory.readable("keys", keys.data(), keys.size());
  memory.readable("values", values.data(), values.size());
  memory.readable("slots", a.slots, static_cast<size_t>(a.num_tokens) * sizeof(int64_t));
  memory.readable_and_writable("nan count", nans, sizeof *nans);
  const size_t scale_bytes = cache.key_scales.size() * sizeof(float);
  if (scale_bytes > 0) {
    memory.readable("key scales", cache.key_scales.data(), scale_bytes);
    memory.readable("value scales", cache.value_scales.data(), scale_bytes);
  }
  a.nan_count = nans;
  for (int64_t token = 0; token < a.num_tokens; ++token) {
    for (int32_t head = 0; head < a.pages.num_kv_heads; ++head) {
      memory.set_warp(static_cast<int32_t>(token * a.pages.num_kv_heads + head));
      HostWarp warp(memory);
      QuantizeWarp<HostWarp>{warp, a}.run(token, head);
    }
  }
  return memory.faults();
}

double amax_of(const float* x, int32_t dim) {
  double amax = 0;
  for (int32_t d = 0; d < dim; ++d)
    if (std::isfinite(x[d])) amax = std::max(amax, std::fabs(static_cast<double>(x[d])));
  return amax;
}

double largest_of(int32_t type) { return type == KVB_FLOAT8_E4M3 ? 448 : 57344; }

float power_scale(int32_t type, double amax) {
  float scale = 0x1p-126f;
  while (scale < 0x1p119f && largest_of(type) * static_cast<double>(scale) < amax) scale *= 2;
  return scale;
}

/// The root of the squared distance of a row's finite elements from their codes, in double.
double distance(int32_t type, const float* x, int32_t dim, float scale) {
  const auto element = static_cast<ElementType>(type);
  const ReferenceEncoder encode(element);
  double sum = 0;
  for (int32_t d = 0; d < dim; ++d) {
    if (!std::isfinite(x[d])) continue;
    const double code = code_value(element, encode(static_cast<double>(x[d] / scale)));
    sum += std::pow(code * static_cast<double>(scale) - static_cast<double>(x[d]), 2);
  }
  return std::sqrt(sum);
}

/// All scales that a row may get where they are floats: the largest magnitude at the format's end,
/// and thirteen steps of 1/28 of it below.
std::vector<float> float_scales(int32_t type, double amax) {
  const float exact = std::max(0x1p-126f, static_cast<float>(amax / largest_of(type)));
  std::vector<float> scales;
  for (int i = 0; i < 14; ++i) scales.push_back(exact * (28.f / static_cast<float>(28 - i)));
  return scales;
}

/// Whether no other scale would have left a smaller error, but for what sums of integers cannot
/// see.
bool is_nearest_scale(const CacheShape& shape, const float* x, float written) {
  const double amax = amax_of(x, shape.head_dim);
  double least = INFINITY;
  bool known = false;
  for (const float scale : float_scales(shape.type, amax)) {
    least = std::min(least, distance(shape.type, x, shape.head_dim, scale));
    known |= scale == written;
  }
  const double unseen = amax * 0x1p-15 * std::sqrt(shape.head_dim);
  return known && distance(shape.type, x, shape.head_dim, written) <= least + unseen;
}

/// What one row of a page should hold under its scale.
std::vector<uint8_t> expected_codes(const CacheShape& shape, const float* x, float scale) {
  const ReferenceEncoder encode(static_cast<ElementType>(shape.type));
  std::vector<uint8_t> codes;
  for (int32_t d = 0; d < shape.head_dim; ++d) {
    // Division is in binary32, like that of vLLM's kernels; by a power of two it is exact.
    const float scaled = x[d] / scale;
    codes.push_back(static_cast<uint8_t>(encode(static_cast<double>(scaled))));
  }
  return codes;
}

}  // namespace

TEST_CASE("The quantiser writes the nearest codes under each row's scale and nothing else") {
  for (const CacheShape& shape : shapes()) {
    if (shape.swizzle) continue;
    INFO(shape.text());
    Cache cache = make_cache(shape, kPoison);
    const Tokens tokens = make_tokens(20, shape.num_kv_heads, shape.head_dim, true, 1);
    const std::vector<int64_t> slots = make_slots(shape, tokens.num_tokens);
    const AlignedBytes keys = to_bytes(tokens.keys, KVB_BFLOAT16);
    const AlignedBytes values = to_bytes(tokens.values, KVB_BFLOAT16);
    kvb_quantize_args a = make_quantize_args(cache.pages, keys, values, KVB_BFLOAT16, slots);
    REQUIRE(kvb_explain_quantize_kv(&a) == nullptr);
    REQUIRE(kvb_quantize_kv_cpu(&a, nullptr) == KVB_OK);

    std::vector<uint8_t> expected(cache.bytes.data(), cache.bytes.data() + cache.bytes.size());
    std::fill(expected.begin(), expected.end(), kPoison);
    const std::vector<float> sources[] = {rounded(tokens.keys, KVB_BFLOAT16),
                                          rounded(tokens.values, KVB_BFLOAT16)};
    for (size_t token = 0; token < slots.size(); ++token) {
      if (slots[token] < 0) continue;
      for (int32_t head = 0; head < shape.num_kv_heads; ++head) {
        const PageRow row{slots[token] / shape.block_tokens, head,
                          static_cast<int32_t>(slots[token] % shape.block_tokens)};
        for (int side = 0; side < 2; ++side) {
          const auto h = static_cast<size_t>(head);
          const float* x =
              sources[side].data() + (token * static_cast<size_t>(shape.num_kv_heads) + h) *
                                         static_cast<size_t>(shape.head_dim);
          const std::vector<float>& scales = side == 0 ? cache.key_scales : cache.value_scales;
          float scale = scales.empty() ? 1.f : scales[shape.scales == KVB_SCALES_HEAD ? h : 0];
          if (has_token_scales(shape.scales)) {
            const auto* scale_base = static_cast<uint8_t*>(side == 0 ? cache.pages.key_scales
                                                                     : cache.pages.value_scales);
            const int64_t at = scale_base - cache.bytes.data() + scale_offset(cache.pages, row);
            if (shape.scales == KVB_SCALES_TOKEN_HEAD_E8M0) {
              scale = power_scale(shape.type, amax_of(x, shape.head_dim));
              expected[static_cast<size_t>(at)] = static_cast<uint8_t>(bits_of(scale) >> 23);
            } else {
              std::memcpy(&scale, cache.bytes.data() + at, 4);
              std::memcpy(expected.data() + at, &scale, 4);
              CHECK(is_nearest_scale(shape, x, scale));
            }
          }
          const std::vector<uint8_t> codes = expected_codes(shape, x, scale);
          const auto* base =
              static_cast<uint8_t*>(side == 0 ? cache.pages.keys : cache.pages.values);
          std::copy(codes.begin(), codes.end(),
                    expected.begin() + (base - cache.bytes.data()) + row_offset(cache.pages, row));
        }
      }
    }
    REQUIRE(std::memcmp(expected.data(), cache.bytes.data(), expected.size()) == 0);
  }
}

TEST_CASE("The GPU's kernel, run lane by lane, and every instruction set write the same bytes") {
  for (const CacheShape& shape : shapes()) {
    for (const int32_t type : {KVB_FLOAT32, KVB_FLOAT16, KVB_BFLOAT16}) {
      INFO(shape.text() << ", inputs " << type);
      const Tokens tokens = make_tokens(20, shape.num_kv_heads, shape.head_dim, true, 2);
      const std::vector<int64_t> slots = make_slots(shape, tokens.num_tokens);
      const AlignedBytes keys = to_bytes(tokens.keys, type);
      const AlignedBytes values = to_bytes(tokens.values, type);
      Cache body = make_cache(shape, kPoison);
      uint64_t body_nans = 0;
      const std::vector<std::string> faults =
          run_body(body, make_quantize_args(body.pages, keys, values, type, slots), keys, values,
                   &body_nans);
      CHECK(faults == std::vector<std::string>{});
      CHECK(body_nans > 0);
      for (const CpuIsa isa : {CpuIsa::kPortable, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
        if (!cpu_supports(isa)) continue;
        INFO(name(isa));
        Cache cache = make_cache(shape, kPoison);
        uint64_t nans = 0;
        kvb_quantize_args a = make_quantize_args(cache.pages, keys, values, type, slots);
        a.nan_count = &nans;
        a.num_threads = 2;
        quantize_kv_cpu(a, isa);
        CHECK(nans == body_nans);
        REQUIRE(std::memcmp(body.bytes.data(), cache.bytes.data(), cache.bytes.size()) == 0);
      }
    }
  }
}

TEST_CASE("A float scale leaves a smaller squared error than the largest magnitude's own would") {
  for (const int32_t dim : {64, 96, 128, 256}) {
    INFO("head dimension " << dim);
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    constexpr int kRows = 200;
    double chosen = 0;
    double exact = 0;
    for (int row = 0; row < kRows; ++row) {
      std::vector<float> x;
      for (int32_t d = 0; d < dim; ++d) x.push_back(normal(random));
      float scale = 0;
      std::vector<uint8_t> codes(static_cast<size_t>(dim));
      quantize_row_portable()(x.data(), KVB_FLOAT32,
                              {codes.data(), reinterpret_cast<uint8_t*>(&scale), 0.f, dim,
                               KVB_FLOAT8_E4M3, 4, 0, false});
      chosen += std::pow(distance(KVB_FLOAT8_E4M3, x.data(), dim, scale), 2);
      const float first = float_scales(KVB_FLOAT8_E4M3, amax_of(x.data(), dim)).front();
      exact += std::pow(distance(KVB_FLOAT8_E4M3, x.data(), dim, first), 2);
    }
    std::printf("head dimension %d: %.3f of the squared error\n", dim, chosen / exact);
    CHECK(chosen < 0.9 * exact);
  }
}

TEST_CASE("All 16-bit inputs under every scale exponent give the reference's code") {
  const ReferenceEncoder encode(ElementType::kFloat8E4M3);
  std::vector<float> x;
  for (uint32_t i = 0; i < 65536; ++i) x.push_back(bfloat16_to_float(i));
  for (uint32_t i = 0; i < 65536; ++i) x.push_back(half_to_float(i));
  for (const CpuIsa isa : {CpuIsa::kPortable, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (!cpu_supports(isa)) continue;
    const QuantizeRow quantize_row = isa == CpuIsa::kPortable ? quantize_row_portable()
                                     : isa == CpuIsa::kAvx2   ? quantize_row_avx2()
                                                              : quantize_row_avx512();
    // The reference's search is slow: every exponent against ours, every eighth against it.
    for (uint32_t code = 1; code <= kvbudget::layout::kMaxScaleCode; ++code) {
      const float scale = scale_of_code(code);
      size_t wrong = 0;
      for (size_t i = 0; i < x.size(); i += 256) {
        uint8_t codes[256];
        quantize_row(&x[i], KVB_FLOAT32,
                     {codes, nullptr, scale, 256, KVB_FLOAT8_E4M3, 0, 0, false});
        for (size_t k = 0; k < 256; ++k) {
          const float scaled = x[i + k] * inverse_scale_of_code(code);
          const uint32_t expected =
              code % 8 == 0 ? encode(static_cast<double>(x[i + k]) / static_cast<double>(scale))
                            : encode_fp8<ElementType::kFloat8E4M3>(scaled);
          wrong += codes[k] != expected;
        }
      }
      INFO(name(isa) << ", scale 2^" << static_cast<int>(code) - 127);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("A swizzled page holds the plain page's units at their permuted places") {
  for (const int32_t dim : {128, 256}) {
    CacheShape shape;
    shape.head_dim = dim;
    Cache plain = make_cache(shape, kPoison);
    shape.swizzle = 1;
    Cache swizzled = make_cache(shape, kPoison);
    const Tokens tokens = make_tokens(40, shape.num_kv_heads, dim, false, 4);
    const std::vector<int64_t> slots = make_slots(shape, tokens.num_tokens);
    const AlignedBytes keys = to_bytes(tokens.keys, KVB_BFLOAT16);
    const AlignedBytes values = to_bytes(tokens.values, KVB_BFLOAT16);
    for (Cache* cache : {&plain, &swizzled}) {
      const kvb_quantize_args a =
          make_quantize_args(cache->pages, keys, values, KVB_BFLOAT16, slots);
      REQUIRE(kvb_quantize_kv_cpu(&a, nullptr) == KVB_OK);
    }
    bool moved = false;
    for (const int64_t slot : slots) {
      if (slot < 0) continue;
      const PageRow row{slot / 16, 1, static_cast<int32_t>(slot % 16)};
      const int64_t offset = row_offset(plain.pages, row);
      for (uint32_t unit = 0; unit < static_cast<uint32_t>(dim) / 16; ++unit) {
        const uint32_t at = kvbudget::layout::swizzled_unit(unit, static_cast<uint32_t>(row.token));
        moved |= at != unit;
        const auto* from = static_cast<uint8_t*>(plain.pages.values) + offset + unit * 16;
        const auto* to = static_cast<uint8_t*>(swizzled.pages.values) + offset + at * 16;
        REQUIRE(std::memcmp(from, to, 16) == 0);
      }
    }
    CHECK(moved);
  }
}

TEST_CASE("Quantising again what was quantised changes nothing") {
  CacheShape shape;
  Cache cache = make_cache(shape, 0);
  const Tokens tokens = make_tokens(10, shape.num_kv_heads, shape.head_dim, false, 8);
  const ReferenceEncoder encode(ElementType::kFloat8E4M3);
  std::vector<float> once = tokens.keys;
  for (size_t row = 0; row < once.size(); row += 128) {
    uint32_t amax = 0;
    for (size_t d = 0; d < 128; ++d)
      amax = std::max(amax, finite_magnitude(bits_of(once[row + d])));
    const float scale = scale_of_code(scale_code(amax, 8));
    for (size_t d = 0; d < 128; ++d)
      once[row + d] =
          static_cast<float>(code_value(ElementType::kFloat8E4M3, encode(once[row + d] / scale))) *
          scale;
  }
  const AlignedBytes keys = to_bytes(once, KVB_FLOAT32);
  std::vector<int64_t> slots;
  for (int64_t i = 0; i < tokens.num_tokens; ++i) slots.push_back(i);
  const kvb_quantize_args a = make_quantize_args(cache.pages, keys, keys, KVB_FLOAT32, slots);
  REQUIRE(kvb_quantize_kv_cpu(&a, nullptr) == KVB_OK);
  for (size_t i = 0; i < once.size(); ++i) {
    const auto row_index = static_cast<int64_t>(i / 128);
    const PageRow row{row_index / 2 / 16, static_cast<int32_t>(row_index % 2),
                      static_cast<int32_t>(row_index / 2 % 16)};
    const uint8_t code = static_cast<uint8_t*>(
        cache.pages.keys)[row_offset(cache.pages, row) + static_cast<int64_t>(i % 128)];
    const uint8_t scale =
        static_cast<uint8_t*>(cache.pages.key_scales)[scale_offset(cache.pages, row)];
    REQUIRE(decode_fp8<ElementType::kFloat8E4M3>(code) * scale_of_code(scale) == once[i]);
  }
}
