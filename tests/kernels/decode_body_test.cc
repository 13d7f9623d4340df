// The GPU's decode kernels, run on the host lane by lane: right answers, and no access that is out
// of bounds, misaligned, racing or of what was never written.
#include <cstring>

#include "kernels/decode/decode_cpu.h"
#include "tests/kernels/run_decode_body.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

namespace {

/// Against the CPU's fast path, within what binary16 weights cost.
void check_body(const DecodeShape& shape, Reading reading, int32_t column_tiles,
                int32_t target_ctas, int32_t min_splits = 1) {
  DecodeCase c = make_decode_case(shape, 13);
  INFO(shape.cache.text() << ", group " << shape.group << ", queries " << shape.query_tokens
                          << ", reading " << static_cast<int>(reading) << ", column tiles "
                          << column_tiles);
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> output = c.output();
  const std::vector<float> lse = c.lse;
  const std::vector<double> expected(output.begin(), output.end());
  std::memset(c.output_bytes.data(), 0xff, c.output_bytes.size());
  c.lse.assign(c.lse.size(), NAN);
  const BodyRun run = run_decode_body(&c, reading, column_tiles, target_ctas, 0);
  CHECK(run.faults == std::vector<std::string>{});
  CHECK(run.most_splits >= min_splits);
  CHECK(relative_error(c.output(), expected) < 1e-3);
  for (size_t i = 0; i < lse.size(); ++i) {
    if (std::isinf(lse[i])) {
      REQUIRE(c.lse[i] == lse[i]);
    } else {
      REQUIRE(c.lse[i] == Approx(lse[i]).epsilon(1e-4).margin(1e-3));
    }
  }
}

}  // namespace

TEST_CASE("The GPU's decode, run lane by lane, agrees with the CPU for every format") {
  for (const int32_t dim : {64, 96, 128, 256}) {
    for (const int32_t scales : {KVB_SCALES_NONE, KVB_SCALES_TENSOR, KVB_SCALES_HEAD,
                                 KVB_SCALES_TOKEN_HEAD_E8M0, KVB_SCALES_TOKEN_HEAD_F32}) {
      for (const int32_t type : {KVB_FLOAT8_E4M3, KVB_FLOAT8_E5M2}) {
        for (const Reading reading : {Reading::kConverts, Reading::kShifts}) {
          DecodeShape shape;
          shape.cache.head_dim = dim;
          shape.cache.scales = scales;
          shape.cache.type = type;
          shape.cache.num_kv_heads = 1;
          shape.cache.block_tokens = dim == 96 ? 48 : dim == 64 ? 128 : 16;
          shape.lengths = {100, 17, 16, 1};
          check_body(shape, reading, 1, 1);
        }
      }
    }
  }
}

TEST_CASE(
    "The GPU's decode splits and merges, with groups, query tokens, windows, sinks and caps") {
  for (const int32_t column_tiles : {1, 2}) {
    for (const int32_t group : {1, 3, 7, 8, 12, 16}) {
      DecodeShape shape;
      shape.group = group;
      shape.query_tokens = 1 + group % 4;
      shape.window = group == 7 ? 300 : 0;
      shape.soft_cap = group == 3 ? 20.f : 0.f;
      shape.sinks = group == 12;
      shape.cache.num_kv_heads = 1;
      shape.lengths = {1100, 30, 2};
      check_body(shape, Reading::kConverts, column_tiles, 64, group == 7 ? 1 : 3);
    }
  }
}

TEST_CASE("The GPU's decode reads swizzled pages and vLLM's views") {
  for (const View view : {View::kPackedHnd, View::kPackedNhd, View::kSplit}) {
    DecodeShape shape;
    shape.cache.view = view;
    shape.cache.scales = KVB_SCALES_HEAD;
    shape.lengths = {90, 5};
    check_body(shape, Reading::kConverts, 1, 8);
  }
  for (const int32_t dim : {128, 256}) {
    DecodeShape shape;
    shape.cache.swizzle = 1;
    shape.cache.head_dim = dim;
    shape.lengths = {90, 5};
    check_body(shape, Reading::kConverts, 1, 8);
  }
}

TEST_CASE("The GPU's decode takes 16-bit types, empty sequences and a grid that is too large") {
  for (const int32_t type : {KVB_FLOAT16, KVB_BFLOAT16}) {
    DecodeShape shape;
    shape.query_type = type;
    shape.output_type = type;
    shape.lengths = {600, 0, 33};
    DecodeCase c = make_decode_case(shape, 3);
    const std::vector<double> expected = reference(c, Data::kCached).output;
    const BodyRun run = run_decode_body(&c, Reading::kConverts, 1, 100, 40);
    CHECK(run.faults == std::vector<std::string>{});
    CHECK(relative_error(c.output(), expected) < (type == KVB_FLOAT16 ? 1e-3 : 3e-3));
  }
}

TEST_CASE("Tiny and huge queries and V scales of any size lose nothing on the GPU") {
  DecodeShape shape;
  shape.lengths = {70};
  DecodeCase c = make_decode_case(shape, 3);
  // Queries of the first KV head times 2^60, of the second 2^-60, in bfloat16's exponent; K's
  // scales the other way, so that scores are ordinary.
  auto* queries = reinterpret_cast<uint16_t*>(c.query_bytes.data());
  for (size_t i = 0; i < c.queries.size(); ++i) {
    queries[i] = static_cast<uint16_t>(queries[i] + (i < c.queries.size() / 2 ? 60 : -60) * 128);
    c.queries[i] = bfloat16_to_float(queries[i]);
  }
  // V's scales rise over 200 binary orders: the weights of small rows must not vanish beside those
  // of a large one that nobody attends to.
  for (uint32_t token = 0; token < 70; ++token) {
    const auto block = static_cast<size_t>(c.block_table[token / 16]);
    for (size_t head = 0; head < 2; ++head) {
      uint8_t* scales = c.cache.bytes.data() + (block * 2 + head) * 4224 + 4096;
      scales[token % 16] = static_cast<uint8_t>(scales[token % 16] + (head == 0 ? -60 : 60));
      scales[16 + token % 16] = static_cast<uint8_t>(20 + 3 * token);
    }
  }
  const std::vector<double> expected = reference(c, Data::kCached).output;
  const BodyRun run = run_decode_body(&c, Reading::kConverts, 1, 8, 0);
  CHECK(run.faults == std::vector<std::string>{});
  const std::vector<float> output = c.output();
  for (size_t row = 0; row < c.num_rows(); ++row) {
    const std::vector<float> ours(&output[row * 128], &output[row * 128] + 128);
    const std::vector<double> exact(&expected[row * 128], &expected[row * 128] + 128);
    CAPTURE(row);
    CHECK(relative_error(ours, exact) < 2e-3);
  }
}

TEST_CASE("Kernels on the host are caught at wrong accesses") {
  alignas(16) uint8_t bytes[64] = {};
  CheckedMemory memory;
  memory.writable("bytes", bytes, sizeof bytes);
  const auto at = reinterpret_cast<uint64_t>(bytes);
  memory.load(at, 16);
  CHECK(memory.faults().size() == 1);  // never written
  memory.store(at + 8, 16);
  CHECK(memory.faults().size() == 2);  // misaligned
  memory.load(at + 64, 16);
  CHECK(memory.faults().size() == 3);  // outside
  memory.set_warp(1);
  memory.load(at + 8, 8);
  CHECK(memory.faults().size() == 4);  // another warp's, no barrier
  memory.store(at + 8, 8);
  CHECK(memory.faults().size() == 5);  // second store
  memory.next_phase();
  memory.load(at + 8, 8);
  memory.store(at + 8, 8);
  CHECK(memory.faults().size() == 5);
}
