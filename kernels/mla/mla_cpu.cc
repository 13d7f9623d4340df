// MLA's cache entries: write and gather.
#include <algorithm>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/common/scale.h"
#include "kernels/layout/kv_page.h"
#include "kernels/mla/check.h"
#include "kernels/pages/read_row.h"
#include "kernels/pages/slots.h"

namespace kvbudget::kernels {
namespace {

using Mla = layout::MlaToken;
constexpr ElementType kE4 = ElementType::kFloat8E4M3;

Problem check_mla(const kvb_mla_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_mla_args& a = *args;
  if (a.num_tokens < 0) return invalid("num_tokens is negative");
  if (!is_input_type(a.type)) return unsupported("type is not float32, float16 or bfloat16");
  const MlaStrides strides{a.num_blocks, a.block_tokens, a.block_stride, a.token_stride};
  if (const Problem problem = check_mla_strides(strides)) return problem;
  if (a.latent_stride < Mla::kLatent || a.rope_stride < Mla::kRope)
    return invalid("latent_stride or rope_stride is smaller than a row");
  if (a.num_tokens == 0) return {};
  if (a.cache == nullptr || a.latent == nullptr || a.rope == nullptr || a.slots == nullptr)
    return invalid("a pointer is null");
  if (!slots_fit(a.slots, a.num_tokens, a.num_blocks, a.block_tokens))
    return invalid("a slot lies beyond the cache");
  return {};
}

uint8_t* entry(const kvb_mla_args& a, int64_t slot) {
  return static_cast<uint8_t*>(a.cache) + slot / a.block_tokens * a.block_stride +
         slot % a.block_tokens * a.token_stride;
}

uint8_t* element(void* base, int64_t index, int32_t type) {
  return static_cast<uint8_t*>(base) + index * element_bytes(type);
}

/// Returns how many NaN the latent holds; those of RoPE stay what they are in bfloat16.
uint64_t write_token(const kvb_mla_args& a, int64_t token) {
  float latent[Mla::kLatent], rope[Mla::kRope];
  load_elements(element(a.latent, token * a.latent_stride, a.type), Mla::kLatent, a.type, latent);
  load_elements(element(a.rope, token * a.rope_stride, a.type), Mla::kRope, a.type, rope);
  uint8_t* to = entry(a, a.slots[token]);
  uint64_t nans = 0;
  for (uint32_t tile = 0; tile * Mla::kTile < Mla::kLatent; ++tile) {
    const float* x = latent + tile * Mla::kTile;
    uint32_t amax = 0;
    for (uint32_t d = 0; d < Mla::kTile; ++d) {
      amax = std::max(amax, finite_magnitude(bits_of(x[d])));
      nans += is_nan_bits(bits_of(x[d]));
    }
    const uint32_t code = scale_code(amax, kMaxExponent<kE4>);
    const float scale = scale_of_code(code);
    std::memcpy(to + Mla::kScalesOffset + tile * sizeof scale, &scale, sizeof scale);
    for (uint32_t d = 0; d < Mla::kTile; ++d)
      to[tile * Mla::kTile + d] =
          static_cast<uint8_t>(encode_fp8<kE4>(x[d] * inverse_scale_of_code(code)));
  }
  store_elements(rope, Mla::kRope, KVB_BFLOAT16, to + Mla::kRopeOffset);
  return nans;
}

void gather_token(const kvb_mla_args& a, int64_t token) {
  const uint8_t* from = entry(a, a.slots[token]);
  float latent[Mla::kLatent], rope[Mla::kRope];
  for (uint32_t d = 0; d < Mla::kLatent; ++d) {
    float scale;
    std::memcpy(&scale, from + Mla::kScalesOffset + d / Mla::kTile * sizeof scale, sizeof scale);
    latent[d] = decode_fp8<kE4>(from[d]) * scale;
  }
  load_elements(from + Mla::kRopeOffset, Mla::kRope, KVB_BFLOAT16, rope);
  store_elements(latent, Mla::kLatent, a.type, element(a.latent, token * a.latent_stride, a.type));
  store_elements(rope, Mla::kRope, a.type, element(a.rope, token * a.rope_stride, a.type));
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_write_mla_cpu(const kvb_mla_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_mla(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  uint64_t nans = 0;
  for (int64_t token = 0; token < args->num_tokens; ++token)
    if (args->slots[token] >= 0) nans += write_token(*args, token);
  if (args->nan_count != nullptr) *args->nan_count += nans;
  return KVB_OK;
}

extern "C" int kvb_gather_mla_cpu(const kvb_mla_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_mla(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  for (int64_t token = 0; token < args->num_tokens; ++token)
    if (args->slots[token] >= 0) gather_token(*args, token);
  return KVB_OK;
}
