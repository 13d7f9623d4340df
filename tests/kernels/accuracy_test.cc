// What FP8 costs, and that the kernels add nothing to it: quantise and decode against attention in
// double over the unquantised data, beside exact attention over the same codes. Gaussian data with
// two outlier channels in K, as Qwen2.5 has them, and long-tailed V.
#include <cstdio>

#include "kernels/decode/decode_cpu.h"
#include "tests/kernels/decode_case.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;

namespace {

void check_accuracy(int32_t dim, float data_scale, int32_t scales) {
  DecodeShape shape;
  shape.cache.head_dim = dim;
  shape.cache.scales = scales;
  shape.data_scale = data_scale;
  shape.lengths = {2000};
  DecodeCase c = make_decode_case(shape, 21);
  const std::vector<double> unquantised = reference(c, Data::kUnquantised).output;
  const std::vector<double> cached = reference(c, Data::kCached).output;
  REQUIRE(kvb_decode_cpu(&c.args, nullptr) == KVB_OK);
  const std::vector<float> exact(cached.begin(), cached.end());
  const double codes_error = relative_error(exact, unquantised);
  const double our_error = relative_error(c.output(), unquantised);
  const double decode_error = relative_error(c.output(), cached);
  std::printf("| %d | %g | %s | %.5f | %.5f | %.1e |\n", dim, static_cast<double>(data_scale),
              scales == KVB_SCALES_NONE              ? "static 1.0"
              : scales == KVB_SCALES_TOKEN_HEAD_E8M0 ? "powers of two"
                                                     : "floats",
              codes_error, our_error, decode_error);
  CHECK(our_error <= 1.05 * codes_error);
  CHECK(decode_error <= 2e-3);
}

}  // namespace

TEST_CASE("Quantise and decode are as near to exact attention as the codes allow") {
  std::printf(
      "| D | data times | scales | FP8, exact attention | FP8, our decode | decode alone "
      "|\n|---|---|---|---|---|---|\n");
  // Outliers are 60 as they come; static scales clip them at 448 in the second set, and round the
  // ordinary channels of the third to subnormal codes.
  for (const float data_scale : {1.f, 10.f, 1.f / 64.f})
    for (const int32_t dim : {64, 96, 128, 256})
      for (const int32_t scales :
           {KVB_SCALES_NONE, KVB_SCALES_TOKEN_HEAD_E8M0, KVB_SCALES_TOKEN_HEAD_F32})
        check_accuracy(dim, data_scale, scales);
}
