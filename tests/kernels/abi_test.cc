// The C ABI under arguments that nobody should pass: every call returns a status, explains what it
// refuses, and writes nothing then.
#include <cstring>
#include <random>

#include "kernels/pages/copy.h"
#include "tests/kernels/decode_case.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

TEST_CASE("Structs that are null, too small or of another ABI are refused") {
  CHECK(kvb_decode_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_quantize_kv_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_copy_pages_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_swap_pages_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_decode_mla_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_gather_dequantize_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_convert_pages_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_write_mla_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_gather_mla_cpu(nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_scan_amax_cpu(nullptr, nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_verify_pages_cpu(nullptr, nullptr, 0, nullptr, nullptr) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_pages_p1(nullptr, 1, 1, 16, 128, 0, 0, nullptr) == KVB_INVALID_ARGUMENT);
  DecodeCase c = make_decode_case(DecodeShape{}, 1);
  c.args.struct_bytes -= 1;
  CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  c.args.struct_bytes += 1;
  c.args.abi_version += 1;
  CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_UNSUPPORTED);
  c.args.abi_version -= 1;
  c.args.pages.struct_bytes = 0;
  CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  int stream = 0;
  c.args.pages.struct_bytes = sizeof(kvb_pages);
  CHECK(kvb_decode_cpu(&c.args, &stream) == KVB_INVALID_ARGUMENT);
}

TEST_CASE("Any damaged word of decode's arguments is refused with words, or leaves a sound call") {
  // Pointers are left alone: a wrong one cannot be known. Numbers are replaced by extremes.
  DecodeShape shape;
  shape.lengths = {20, 5};
  std::mt19937 random(2);
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    DecodeCase c = make_decode_case(shape, 1);
    int32_t* const words[] = {
        &c.args.pages.num_kv_heads, &c.args.pages.block_tokens, &c.args.pages.head_dim,
        &c.args.pages.type,         &c.args.pages.scales,       &c.args.pages.swizzle,
        &c.args.num_sequences,      &c.args.num_query_heads,    &c.args.query_tokens,
        &c.args.query_type,         &c.args.output_type,        &c.args.window,
        &c.args.num_threads,        &c.args.max_length};
    const int32_t extremes[] = {-1, 0, INT32_MIN, INT32_MAX, 7, 1 << 30};
    const size_t which = random() % std::size(words);
    const int32_t value = extremes[random() % std::size(extremes)];
    // What stays inside every buffer that the case has, if it is accepted.
    const bool may_run = words[which] == &c.args.window || value <= *words[which];
    *words[which] = value;
    const char* why = kvb_explain_decode(&c.args);
    if (why != nullptr) {
      ++refused;
      REQUIRE(std::strlen(why) > 5);
      const std::vector<uint8_t> before(c.output_bytes.data(),
                                        c.output_bytes.data() + c.output_bytes.size());
      REQUIRE(kvb_decode_cpu(&c.args, nullptr) != KVB_OK);
      REQUIRE(std::memcmp(before.data(), c.output_bytes.data(), before.size()) == 0);
    } else if (may_run && words[which] != &c.args.output_type &&
               words[which] != &c.args.query_type) {
      kvb_decode_cpu(&c.args, nullptr);  // under the address sanitizer in our tests
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("Strides that overflow or overlap rows are refused") {
  DecodeCase c = make_decode_case(DecodeShape{}, 1);
  for (int64_t* const stride :
       {&c.args.pages.block_stride, &c.args.pages.head_stride, &c.args.pages.token_stride,
        &c.args.pages.scale_block_stride, &c.args.pages.scale_token_stride}) {
    const int64_t good = *stride;
    for (const int64_t bad : {int64_t{-128}, int64_t{0}, INT64_MAX, INT64_MIN}) {
      *stride = bad;
      CHECK(kvb_explain_decode(&c.args) != nullptr);
    }
    *stride = good;
  }
  CHECK(kvb_explain_decode(&c.args) == nullptr);
}

TEST_CASE("Numbers that are not numbers are refused") {
  DecodeCase c = make_decode_case(DecodeShape{}, 1);
  for (const float bad : {0.f, -1.f, NAN, INFINITY}) {
    c.args.softmax_scale = bad;
    CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  }
  c.args.softmax_scale = 0.1f;
  for (const float bad : {-1.f, NAN, INFINITY}) {
    c.args.soft_cap = bad;
    CHECK(kvb_decode_cpu(&c.args, nullptr) == KVB_INVALID_ARGUMENT);
  }
}

TEST_CASE("Plans cover every token once and never exceed their capacity") {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    DecodeShape shape;
    shape.lengths.clear();
    const size_t sequences = 1 + random() % 5;
    for (size_t s = 0; s < sequences; ++s)
      shape.lengths.push_back(static_cast<int32_t>(random() % 300));
    DecodeCase c = make_decode_case(shape, 1);
    for (int32_t& length : c.shape.lengths) length *= static_cast<int32_t>(1 + random() % 1000);
    c.args.max_length = 300000;
    c.args.block_table_stride = 300000 / 16;  // lengths alone are read
    c.args.lengths = c.shape.lengths.data();
    const auto capacity = static_cast<int32_t>(sequences + random() % 300);
    std::vector<int32_t> work(sequences + 1 + 2 * static_cast<size_t>(capacity), -5);
    kvb_decode_plan plan{};
    const auto target = static_cast<int32_t>(1 + random() % 1000);
    REQUIRE(kvb_plan_decode(&c.args, target, work.data(), capacity, &plan) == KVB_OK);
    REQUIRE(plan.split_tokens % 64 == 0);
    REQUIRE(plan.num_work == capacity);
    int32_t next = 0;
    for (size_t s = 0; s < sequences; ++s) {
      REQUIRE(work[s] == next);
      const int32_t count = work[s + 1] - work[s];
      REQUIRE(count >= 1);
      REQUIRE(int64_t{count} * plan.split_tokens >= c.shape.lengths[s]);
      REQUIRE(int64_t{count - 1} * plan.split_tokens <= std::max(0, c.shape.lengths[s] - 1));
      for (int32_t split = 0; split < count; ++split, ++next) {
        REQUIRE(work[sequences + 1 + 2 * static_cast<size_t>(next)] == static_cast<int32_t>(s));
        REQUIRE(work[sequences + 2 + 2 * static_cast<size_t>(next)] == split);
      }
    }
    REQUIRE(next <= capacity);
    for (; next < capacity; ++next)
      REQUIRE(work[sequences + 1 + 2 * static_cast<size_t>(next)] == -1);
  }
}
