#include "lint/engine/attention_backends.h"

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

constexpr Version kNewest{0, 33, 0};
constexpr ComputeCapability kAmpere{8, 0};
constexpr ComputeCapability kHopper{9, 0};
constexpr ComputeCapability kBlackwell{10, 0};

}  // namespace

TEST_CASE("every cell of the attention backends is read") {
  REQUIRE(all_attention_backends().size() >= 10);
  for (const AttentionBackend& backend : all_attention_backends()) {
    INFO(backend.name);
    REQUIRE(backend.since);
    CHECK(find_attention_backend(backend.name) == &backend);
    CHECK((backend.runs_on(kAmpere, kNewest) || backend.runs_on(kHopper, kNewest) ||
           backend.runs_on(kBlackwell, kNewest)));
    CHECK(backend.takes_heads_of(128, kNewest));
    CHECK(backend.takes_heads_of(0, kNewest));
    CHECK(128 % backend.block_multiple(kNewest) == 0);
    CHECK(backend.holds("auto", kAmpere, kNewest));
  }
}

TEST_CASE("ranges of cards, sizes and dtypes hold for their release") {
  const AttentionBackend& flash = *find_attention_backend("FLASH_ATTN");
  CHECK_FALSE(flash.runs_on({7, 5}, kNewest));
  CHECK(flash.holds("fp8_e4m3", kHopper, {0, 19, 0}));
  CHECK_FALSE(flash.holds("fp8", kAmpere, kNewest));
  CHECK_FALSE(flash.holds("fp8", kBlackwell, {0, 26, 0}));
  CHECK(flash.holds("fp8", kBlackwell, {0, 27, 0}));
  CHECK(flash.takes_heads_of(96, {0, 11, 1}));
  CHECK_FALSE(flash.takes_heads_of(80, {0, 11, 1}));
  CHECK(flash.takes_heads_of(80, {0, 12, 0}));
  CHECK_FALSE(flash.takes_heads_of(81, kNewest));
  const AttentionBackend& infer = *find_attention_backend("FLASHINFER");
  CHECK(infer.takes_heads_of(256, {0, 19, 0}));
  CHECK_FALSE(infer.takes_heads_of(96, kNewest));
  CHECK(infer.has_sinks(kBlackwell, {0, 19, 0}));
  CHECK_FALSE(infer.has_sinks(kHopper, {0, 29, 0}));
  CHECK(infer.holds("nvfp4", {12, 0}, {0, 32, 0}));
  CHECK_FALSE(infer.holds("nvfp4_4over6", {12, 0}, {0, 32, 0}));
}
