// The CPU's decode against attention in double over the very codes, for every shape it promises.
#include <cstring>

#include "kernels/common/float_bits.h"
#include "kernels/decode/decode_cpu.h"
#include "tests/kernels/decode_case.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

namespace {

constexpr CpuIsa kAll[] = {CpuIsa::kPortable, CpuIsa::kAvx2, CpuIsa::kAvx512, CpuIsa::kAvx512Bf16};

void check_against_reference(const DecodeShape& shape, const std::string& what) {
  DecodeCase c = make_decode_case(shape, 7);
  INFO(what << ": " << shape.cache.text() << ", group " << shape.group << ", queries "
            << shape.query_tokens);
  REQUIRE(kvb_explain_decode(&c.args) == nullptr);
  const Attention expected = reference(c, Data::kCached);
  for (const CpuIsa isa : kAll) {
    if (!cpu_supports(isa)) continue;
    INFO(name(isa));
    std::memset(c.output_bytes.data(), 0xee, c.output_bytes.size());
    REQUIRE(decode_cpu(c.args, isa) == KVB_OK);
    const double bound = shape.output_type == KVB_FLOAT32   ? 1e-5
                         : shape.output_type == KVB_FLOAT16 ? 4e-4
                                                            : 3e-3;
    CHECK(relative_error(c.output(), expected.output) < bound);
    for (size_t i = 0; i < c.lse.size(); ++i) {
      if (std::isinf(expected.lse[i])) {
        REQUIRE(c.lse[i] == -INFINITY);
      } else {
        REQUIRE(static_cast<double>(c.lse[i]) ==
                Approx(expected.lse[i]).epsilon(1e-5).margin(1e-4));
      }
    }
  }
}

}  // namespace

TEST_CASE("Decode equals attention in double for every head dimension, block size and scale") {
  for (const int32_t dim : {64, 96, 128, 256}) {
    for (const int32_t scales : {KVB_SCALES_NONE, KVB_SCALES_TENSOR, KVB_SCALES_HEAD,
                                 KVB_SCALES_TOKEN_HEAD_E8M0, KVB_SCALES_TOKEN_HEAD_F32}) {
      DecodeShape shape;
      shape.cache.head_dim = dim;
      shape.cache.block_tokens = scales == KVB_SCALES_HEAD     ? 48
                                 : scales == KVB_SCALES_TENSOR ? 128
                                                               : 16;
      shape.cache.scales = scales;
      shape.lengths = {200, 49, 48, 16, 15, 1};
      check_against_reference(shape, "scales");
    }
  }
}

TEST_CASE("Decode takes every group from 1 to 16 and 1 to 8 query tokens, causally") {
  for (int32_t group = 1; group <= 16; ++group) {
    DecodeShape shape;
    shape.group = group;
    shape.query_tokens = 1 + group % 8;
    shape.lengths = {130, 17, 9};
    check_against_reference(shape, "groups");
  }
  DecodeShape most;
  most.group = 16;
  most.query_tokens = 8;
  most.lengths = {77, 3};  // the second is shorter than its queries: the first of them see nothing
  check_against_reference(most, "128 rows");
}

TEST_CASE("Decode reads e5m2, 16-bit pages, swizzled pages and vLLM's views") {
  for (const View view : {View::kP1, View::kPackedHnd, View::kPackedNhd, View::kSplit}) {
    for (const int32_t type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2, KVB_BFLOAT16}) {
      for (const int32_t dim : {96, 128}) {
        DecodeShape shape;
        shape.cache.view = view;
        shape.cache.type = type;
        shape.cache.head_dim = dim;
        shape.cache.block_tokens = 32;
        shape.cache.scales = type == KVB_BFLOAT16 ? KVB_SCALES_NONE : KVB_SCALES_HEAD;
        shape.lengths = {100, 33};
        check_against_reference(shape, "views");
      }
    }
  }
  for (const int32_t dim : {64, 96, 128, 256}) {
    DecodeShape shape;
    shape.cache.view = View::kInline;
    shape.cache.scales = KVB_SCALES_TOKEN_HEAD_F32;
    shape.cache.head_dim = dim;
    check_against_reference(shape, "scales inline");
  }
  for (const int32_t dim : {128, 256}) {
    DecodeShape shape;
    shape.cache.swizzle = 1;
    shape.cache.head_dim = dim;
    check_against_reference(shape, "swizzle");
  }
}

TEST_CASE("Decode follows windows, sinks and soft caps") {
  for (const int32_t window : {0, 1, 16, 100, 5000}) {
    for (const float soft_cap : {0.f, 5.f}) {
      DecodeShape shape;
      shape.window = window;
      shape.soft_cap = soft_cap;
      shape.sinks = window != 16;
      shape.query_tokens = 3;
      shape.group = 3;
      shape.lengths = {700, 65, 4};
      check_against_reference(shape, "window " + std::to_string(window));
    }
  }
}

TEST_CASE("Decode takes float16 queries and writes 16-bit outputs") {
  for (const int32_t type : {KVB_FLOAT16, KVB_BFLOAT16}) {
    DecodeShape shape;
    shape.query_type = type;
    shape.output_type = type;
    check_against_reference(shape, "types");
  }
}

TEST_CASE("A sequence without tokens gives zeros and minus infinity") {
  DecodeShape shape;
  shape.lengths = {40, 0, 20};
  DecodeCase c = make_decode_case(shape, 1);
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> output = c.output();
  const size_t rows = c.num_rows() / 3;
  for (size_t i = rows * 128; i < 2 * rows * 128; ++i) REQUIRE(output[i] == 0.f);
  for (size_t i = rows; i < 2 * rows; ++i) REQUIRE(c.lse[i] == -INFINITY);
}

TEST_CASE("The order of blocks, the number of threads and unused memory change no bit") {
  DecodeShape shape;
  shape.lengths = {5000, 2049, 100};
  DecodeCase a = make_decode_case(shape, 5);
  REQUIRE(kvb_decode_cpu(&a.args, nullptr) == KVB_OK);
  const std::vector<float> first = a.output();
  a.args.num_threads = 2;
  REQUIRE(kvb_decode_cpu(&a.args, nullptr) == KVB_OK);
  CHECK(a.output() == first);

  // Two blocks change places, and the row after the last token another content.
  Cache& cache = a.cache;
  const auto page = static_cast<size_t>(cache.pages.block_stride);
  std::swap_ranges(cache.bytes.data() + static_cast<size_t>(a.block_table[0]) * page,
                   cache.bytes.data() + static_cast<size_t>(a.block_table[0] + 1) * page,
                   cache.bytes.data() + static_cast<size_t>(a.block_table[5]) * page);
  std::swap(a.block_table[0], a.block_table[5]);
  const int32_t last = a.block_table[2 * static_cast<size_t>(a.args.block_table_stride) + 6];
  std::memset(cache.bytes.data() + static_cast<size_t>(last) * page + 4 * 256, 0x11, 12 * 256);
  REQUIRE(kvb_decode_cpu(&a.args, nullptr) == KVB_OK);
  CHECK(a.output() == first);
}

TEST_CASE("Keys times a power of two under the inverse scale give the same bits") {
  DecodeShape shape;
  DecodeCase c = make_decode_case(shape, 6);
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> first = c.output();
  const auto page = static_cast<size_t>(kvb_page_bytes(16, 128, KVB_SCALES_TOKEN_HEAD_E8M0));
  for (size_t at = 4096; at < c.cache.bytes.size(); at += page) {
    for (size_t t = 0; t < 16; ++t) {
      uint8_t& scale = c.cache.bytes.data()[at + t];
      if (scale != 0xff) scale = static_cast<uint8_t>(scale + 5);
    }
  }
  c.args.softmax_scale /= 32.f;
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  CHECK(c.output() == first);
}

TEST_CASE("A row's result does not depend on the rows beside it") {
  DecodeShape shape;
  shape.group = 8;
  DecodeCase c = make_decode_case(shape, 9);
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> first = c.output();
  auto* queries = reinterpret_cast<uint16_t*>(c.query_bytes.data());
  for (size_t row = 0; row < c.num_rows(); ++row) {
    if (row % 8 == 3) continue;
    for (size_t d = 0; d < 128; ++d) queries[row * 128 + d] = 0x4000;
  }
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> second = c.output();
  for (size_t row = 3; row < c.num_rows(); row += 8)
    REQUIRE(std::memcmp(&first[row * 128], &second[row * 128], 512) == 0);
  CHECK(first != second);
}

TEST_CASE("Blocks, lengths and query starts out of bounds are refused on the CPU") {
  DecodeShape shape;
  DecodeCase c = make_decode_case(shape, 2);
  const int32_t block = c.block_table[3];
  for (const int32_t wrong : {-1, static_cast<int32_t>(c.cache.pages.num_blocks)}) {
    c.block_table[3] = wrong;
    CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  }
  c.block_table[3] = block;
  c.args.max_length -= 1;
  CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  c.args.max_length += 1;
  const int32_t starts[] = {0, 2, 3, 4, 5, 6};
  c.args.query_starts = starts;
  CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
}
