// MLA's 656-byte tokens: bytes where vLLM's kernels look for them, and the way back.
#include <cmath>
#include <cstring>

#include "kernels/common/float_bits.h"
#include "kernels/layout/kv_page.h"
#include "tests/kernels/cache.h"
#include "tests/kernels/reference_codes.h"
#include "tests/support/catch.h"

using namespace kvbudget::kernels;
using namespace kvbudget::kernels::test;
using Mla = kvbudget::layout::MlaToken;

namespace {

constexpr int64_t kTokens = 9;
constexpr int64_t kBlockTokens = 4;

kvb_mla_args make_args(AlignedBytes& cache, AlignedBytes& latent, AlignedBytes& rope,
                       const std::vector<int64_t>& slots, int32_t type) {
  kvb_mla_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.cache = cache.data();
  a.token_stride = Mla::kBytes;
  a.block_stride = Mla::kBytes * kBlockTokens;
  a.num_blocks = 4;
  a.block_tokens = kBlockTokens;
  a.latent = latent.data();
  a.rope = rope.data();
  a.latent_stride = Mla::kLatent;
  a.rope_stride = Mla::kRope;
  a.slots = slots.data();
  a.num_tokens = kTokens;
  a.type = type;
  return a;
}

}  // namespace

TEST_CASE("MLA tokens are written as 512 codes, 4 scales and 64 bfloat16, and gathered again") {
  const Tokens source = make_tokens(kTokens, 4, 128, false, 3);
  const Tokens positions = make_tokens(kTokens, 1, 64, false, 4);
  const std::vector<int64_t> slots = {15, 0, 7, -1, 3, 8, 9, 10, 1};
  AlignedBytes cache(Mla::kBytes * 16, 0xff);
  AlignedBytes latent = to_bytes(source.values, KVB_FLOAT32);
  AlignedBytes rope = to_bytes(positions.keys, KVB_FLOAT32);
  kvb_mla_args a = make_args(cache, latent, rope, slots, KVB_FLOAT32);
  uint64_t nans = 0;
  a.nan_count = &nans;
  REQUIRE(kvb_write_mla_cpu(&a, nullptr) == KVB_OK);
  CHECK(nans == 0);

  const ReferenceEncoder encode(ElementType::kFloat8E4M3);
  for (size_t token = 0; token < kTokens; ++token) {
    if (slots[token] < 0) continue;
    const uint8_t* entry = cache.data() + static_cast<size_t>(slots[token]) * Mla::kBytes;
    for (size_t d = 0; d < Mla::kLatent; ++d) {
      float scale;
      std::memcpy(&scale, entry + 512 + d / 128 * 4, 4);
      const float x = source.values[token * 512 + d];
      REQUIRE(entry[d] == encode(static_cast<double>(x) / static_cast<double>(scale)));
      REQUIRE(std::fabs(x) <= 448.f * scale);
    }
    for (size_t d = 0; d < Mla::kRope; ++d) {
      uint16_t bits;
      std::memcpy(&bits, entry + 528 + 2 * d, 2);
      REQUIRE(bits == float_to_bfloat16(positions.keys[token * 64 + d]));
    }
  }

  AlignedBytes latent_back(latent.size(), 0);
  AlignedBytes rope_back(rope.size(), 0);
  kvb_mla_args back = make_args(cache, latent_back, rope_back, slots, KVB_FLOAT32);
  REQUIRE(kvb_gather_mla_cpu(&back, nullptr) == KVB_OK);
  for (size_t i = 0; i < source.values.size(); ++i) {
    if (slots[i / 512] < 0) continue;
    float x;
    std::memcpy(&x, latent_back.data() + 4 * i, 4);
    REQUIRE(std::fabs(x - source.values[i]) <= std::fabs(source.values[i]) / 16 + 0.01f);
  }
}
