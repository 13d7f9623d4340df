// Decode over MLA's cache against attention in double over the very codes, scales and RoPE values.
#include "kernels/mla/decode_mla.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/common/float_bits.h"
#include "kernels/layout/kv_page.h"
#include "tests/kernels/cache.h"
#include "tests/kernels/decode_case.h"
#include "tests/kernels/reference_codes.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;
using Mla = kvbudget::layout::MlaToken;

namespace {

constexpr size_t kKeyDim = 576;
constexpr size_t kValueDim = 512;

struct Shape {
  int32_t heads = 16;
  int32_t query_tokens = 1;
  int32_t block_tokens = 64;
  int32_t query_type = KVB_BFLOAT16;
  std::vector<int32_t> lengths = {300, 65, 64, 17, 1};
};

struct Case {
  Shape shape;
  AlignedBytes cache, query_bytes;
  std::vector<float> queries;  // as their type stores them
  std::vector<int32_t> block_table;
  std::vector<float> output, lse;
  kvb_decode_mla_args args{};

  size_t num_rows() const { return lse.size(); }
  const uint8_t* entry(size_t sequence, int32_t token) const {
    const int64_t at =
        static_cast<int64_t>(sequence) * args.block_table_stride + token / shape.block_tokens;
    return cache.data() + block_table[static_cast<size_t>(at)] * args.block_stride +
           token % shape.block_tokens * args.token_stride;
  }
};

int32_t blocks_of(const Shape& s, int32_t length) {
  return (length + s.block_tokens - 1) / s.block_tokens;
}

void write_tokens(Case* c, int64_t num_blocks, uint32_t seed) {
  std::vector<int64_t> slots;
  for (size_t s = 0; s < c->shape.lengths.size(); ++s) {
    for (int32_t t = 0; t < c->shape.lengths[s]; ++t) {
      const int64_t offset = c->entry(s, t) - c->cache.data();
      slots.push_back(offset / c->args.block_stride * c->shape.block_tokens +
                      t % c->shape.block_tokens);
    }
  }
  const auto count = static_cast<int64_t>(slots.size());
  const AlignedBytes latent = to_bytes(make_tokens(count, 4, 128, false, seed).keys, KVB_BFLOAT16);
  const AlignedBytes rope = to_bytes(make_tokens(count, 1, 64, false, seed + 1).keys, KVB_BFLOAT16);
  kvb_mla_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.cache = c->cache.data();
  a.block_stride = c->args.block_stride;
  a.token_stride = c->args.token_stride;
  a.num_blocks = num_blocks;
  a.block_tokens = c->shape.block_tokens;
  a.latent = const_cast<uint8_t*>(latent.data());
  a.rope = const_cast<uint8_t*>(rope.data());
  a.latent_stride = Mla::kLatent;
  a.rope_stride = Mla::kRope;
  a.slots = slots.data();
  a.num_tokens = count;
  a.type = KVB_BFLOAT16;
  REQUIRE(kvb_write_mla_cpu(&a, nullptr) == KVB_OK);
}

/// Blocks in a shuffled order, every byte without a token 0xff: NaN in all formats.
Case make_case(const Shape& shape, uint32_t seed) {
  Case c;
  c.shape = shape;
  kvb_decode_mla_args& a = c.args;
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.token_stride = Mla::kBytes;
  a.block_stride = a.token_stride * shape.block_tokens + 32;
  a.max_length = *std::max_element(shape.lengths.begin(), shape.lengths.end());
  a.block_table_stride = blocks_of(shape, a.max_length) + 1;
  int32_t num_blocks = 2;
  for (const int32_t length : shape.lengths) num_blocks += blocks_of(shape, length);
  a.num_blocks = num_blocks;
  c.cache =
      AlignedBytes(static_cast<size_t>(a.block_stride) * static_cast<size_t>(num_blocks), 0xff);
  std::mt19937 random(seed);
  std::vector<int32_t> blocks;
  for (int32_t i = 0; i < num_blocks; ++i) blocks.push_back(i);
  std::shuffle(blocks.begin(), blocks.end(), random);
  size_t next = 0;
  for (const int32_t length : shape.lengths)
    for (int64_t i = 0; i < a.block_table_stride; ++i)
      c.block_table.push_back(i < blocks_of(shape, length) ? blocks[next++] : 0);
  write_tokens(&c, num_blocks, seed);
  const size_t rows = shape.lengths.size() * static_cast<size_t>(shape.query_tokens * shape.heads);
  std::normal_distribution<float> normal;
  std::vector<float> queries(rows * kKeyDim);
  for (float& x : queries) x = normal(random);
  c.queries = rounded(queries, shape.query_type);
  c.query_bytes = to_bytes(queries, shape.query_type);
  c.output.assign(rows * kValueDim, NAN);
  c.lse.assign(rows, NAN);
  return c;
}

/// Pointers are set last: a case that was moved has others.
kvb_decode_mla_args& args_of(Case& c) {
  kvb_decode_mla_args& a = c.args;
  a.cache = c.cache.data();
  a.queries = c.query_bytes.data();
  a.output = c.output.data();
  a.lse = c.lse.data();
  a.query_head_stride = kKeyDim;
  a.query_token_stride = static_cast<int64_t>(kKeyDim) * c.shape.heads;
  a.output_head_stride = kValueDim;
  a.output_token_stride = static_cast<int64_t>(kValueDim) * c.shape.heads;
  a.block_table = c.block_table.data();
  a.lengths = c.shape.lengths.data();
  a.num_sequences = static_cast<int32_t>(c.shape.lengths.size());
  a.num_query_heads = c.shape.heads;
  a.query_tokens = c.shape.query_tokens;
  a.block_tokens = c.shape.block_tokens;
  a.query_type = c.shape.query_type;
  a.output_type = KVB_FLOAT32;
  a.softmax_scale = 1.f / std::sqrt(192.f);
  a.num_threads = 1;
  return a;
}

std::vector<double> key_of(const uint8_t* entry) {
  std::vector<double> key(kKeyDim);
  for (size_t d = 0; d < kValueDim; ++d) {
    float scale;
    std::memcpy(&scale, entry + 512 + d / 128 * 4, 4);
    key[d] = code_value(ElementType::kFloat8E4M3, entry[d]) * static_cast<double>(scale);
  }
  for (size_t d = kValueDim; d < kKeyDim; ++d) {
    uint16_t bits;
    std::memcpy(&bits, entry + 528 + 2 * (d - kValueDim), 2);
    key[d] = static_cast<double>(bfloat16_to_float(bits));
  }
  return key;
}

Attention reference_mla(const Case& c) {
  Attention result{std::vector<double>(c.output.size(), 0), std::vector<double>(c.num_rows())};
  for (size_t row = 0; row < c.num_rows(); ++row) {
    const auto heads = static_cast<size_t>(c.shape.heads);
    const auto queries = static_cast<size_t>(c.shape.query_tokens);
    const size_t s = row / heads / queries;
    const auto index = static_cast<int32_t>(row / heads % queries);
    const int32_t seen = c.shape.lengths[s] - c.shape.query_tokens + index + 1;
    double sum = 0;
    for (int32_t t = 0; t < seen; ++t) {
      const std::vector<double> key = key_of(c.entry(s, t));
      double score = 0;
      for (size_t d = 0; d < kKeyDim; ++d)
        score += static_cast<double>(c.queries[row * kKeyDim + d]) * key[d];
      const double weight = std::exp(score * static_cast<double>(c.args.softmax_scale));
      sum += weight;
      for (size_t d = 0; d < kValueDim; ++d) result.output[row * kValueDim + d] += weight * key[d];
    }
    for (size_t d = 0; sum > 0 && d < kValueDim; ++d) result.output[row * kValueDim + d] /= sum;
    result.lse[row] = std::log(sum);
  }
  return result;
}

void check_against_reference(const Shape& shape) {
  Case c = make_case(shape, 3);
  kvb_decode_mla_args& a = args_of(c);
  INFO("heads " << shape.heads << ", queries " << shape.query_tokens << ", block "
                << shape.block_tokens);
  REQUIRE(kvb_explain_decode_mla(&a) == nullptr);
  const Attention expected = reference_mla(c);
  for (const CpuIsa isa : {CpuIsa::kPortable, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (!cpu_supports(isa)) continue;
    INFO(name(isa));
    std::fill(c.output.begin(), c.output.end(), NAN);
    REQUIRE(decode_mla(a, isa) == KVB_OK);
    CHECK(relative_error(c.output, expected.output) < 1e-5);
    for (size_t i = 0; i < c.lse.size(); ++i) {
      if (std::isinf(expected.lse[i]))
        REQUIRE(c.lse[i] == -INFINITY);
      else
        REQUIRE(static_cast<double>(c.lse[i]) ==
                Approx(expected.lse[i]).epsilon(1e-5).margin(1e-4));
    }
  }
}

}  // namespace

TEST_CASE("MLA decode equals attention in double for 1 to 128 heads") {
  for (const int32_t heads : {1, 2, 3, 8, 13, 16, 128}) {
    Shape shape;
    shape.heads = heads;
    shape.block_tokens = heads == 3 ? 4 : heads == 8 ? 1 : heads == 13 ? 24 : 64;
    check_against_reference(shape);
  }
}

TEST_CASE("MLA decode takes 1 to 8 query tokens, causally, of every type") {
  for (const int32_t query_tokens : {2, 5, 8}) {
    Shape shape;
    shape.heads = query_tokens == 8 ? 20 : 6;  // 160 rows are more than one group
    shape.query_tokens = query_tokens;
    shape.query_type = query_tokens == 2   ? KVB_FLOAT32
                       : query_tokens == 5 ? KVB_FLOAT16
                                           : KVB_BFLOAT16;
    shape.lengths = {130, 16, 3};  // the last is shorter than some of its queries
    check_against_reference(shape);
  }
}

TEST_CASE("MLA decode's order of blocks, number of threads and unused memory change no bit") {
  Shape shape;
  shape.lengths = {2500, 1025, 100};
  shape.heads = 9;
  Case c = make_case(shape, 4);
  kvb_decode_mla_args& a = args_of(c);
  REQUIRE(kvb_decode_mla_cpu(&a, nullptr) == KVB_OK);
  const std::vector<float> first = c.output;
  a.num_threads = 2;
  REQUIRE(kvb_decode_mla_cpu(&a, nullptr) == KVB_OK);
  CHECK(c.output == first);

  const auto block = static_cast<size_t>(a.block_stride);
  const auto at = [&](int32_t number) {
    return c.cache.data() + static_cast<size_t>(number) * block;
  };
  std::swap_ranges(at(c.block_table[0]), at(c.block_table[0]) + block, at(c.block_table[7]));
  std::swap(c.block_table[0], c.block_table[7]);
  const int32_t last = c.block_table[2 * static_cast<size_t>(a.block_table_stride) + 1];
  std::memset(at(last) + 36 * Mla::kBytes, 0x11, 28 * Mla::kBytes);  // behind token 100
  REQUIRE(kvb_decode_mla_cpu(&a, nullptr) == KVB_OK);
  CHECK(c.output == first);
}

TEST_CASE("MLA decode merges sequences without tokens to zeros, and writes 16-bit outputs") {
  Shape shape;
  shape.lengths = {40, 0, 20};
  Case c = make_case(shape, 5);
  kvb_decode_mla_args& a = args_of(c);
  REQUIRE(kvb_decode_mla_cpu(&a, nullptr) == KVB_OK);
  for (size_t row = 16; row < 32; ++row) {
    REQUIRE(c.lse[row] == -INFINITY);
    for (size_t d = 0; d < kValueDim; ++d) REQUIRE(c.output[row * kValueDim + d] == 0.f);
  }
  std::vector<uint16_t> halves(c.output.size());
  a.output = halves.data();
  a.output_type = KVB_BFLOAT16;
  REQUIRE(kvb_decode_mla_cpu(&a, nullptr) == KVB_OK);
  for (size_t i = 0; i < halves.size(); ++i) REQUIRE(halves[i] == float_to_bfloat16(c.output[i]));
}

TEST_CASE("MLA decode refuses damaged arguments with words, and writes nothing then") {
  Shape shape;
  shape.lengths = {20, 5};
  Case c = make_case(shape, 6);
  const kvb_decode_mla_args good = args_of(c);
  CHECK(kvb_decode_mla_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  kvb_decode_mla_args a = good;
  const auto refused = [&](auto* field, auto value) {
    *field = value;
    const char* why = kvb_explain_decode_mla(&a);
    CHECK((why != nullptr && std::strlen(why) > 5));
    CHECK(kvb_decode_mla_cpu(&a, nullptr) != KVB_OK);
    a = good;
  };
  refused(&a.struct_bytes, uint32_t{8});
  refused(&a.abi_version, 99u);
  for (const int64_t bad : {int64_t{-656}, int64_t{0}, int64_t{655}, INT64_MAX, INT64_MIN}) {
    refused(&a.token_stride, bad);
    refused(&a.block_stride, bad);
  }
  for (const int32_t bad : {-1, 0, INT32_MIN}) {
    refused(&a.num_query_heads, bad);
    refused(&a.query_tokens, bad);
    refused(&a.block_tokens, bad);
  }
  refused(&a.num_query_heads, 129);
  refused(&a.query_tokens, 9);
  refused(&a.query_type, int32_t{KVB_FLOAT8_E4M3});
  refused(&a.output_type, 7);
  refused(&a.num_sequences, -1);
  refused(&a.num_threads, -1);
  refused(&a.max_length, INT32_MAX);
  refused(&a.softmax_scale, NAN);
  refused(&a.query_head_stride, int64_t{575});
  refused(&a.output_token_stride, int64_t{511});
  refused(&a.cache, static_cast<const void*>(nullptr));
  refused(&a.lengths, static_cast<const int32_t*>(nullptr));
  int stream = 0;
  CHECK(kvb_decode_mla_cpu(&a, &stream) == KVB_INVALID_ARGUMENT);
  for (const int32_t wrong : {-1, static_cast<int32_t>(good.num_blocks)}) {
    const int32_t block = c.block_table[0];
    c.block_table[0] = wrong;
    CHECK(kvb_decode_mla_cpu(&a, nullptr) == KVB_INVALID_ARGUMENT);
    c.block_table[0] = block;
  }
  for (const float x : c.output) REQUIRE(std::isnan(x));
}
