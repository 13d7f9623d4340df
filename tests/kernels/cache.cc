#include "tests/kernels/cache.h"

#include <cmath>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/common/float_bits.h"

namespace kvbudget::kernels::test {

std::string CacheShape::text() const {
  return "D " + std::to_string(head_dim) + ", blocks of " + std::to_string(block_tokens) +
         ", type " + std::to_string(type) + ", scales " + std::to_string(scales) + ", swizzle " +
         std::to_string(swizzle) + ", view " + std::to_string(static_cast<int>(view));
}

AlignedBytes::AlignedBytes(size_t bytes, uint8_t fill)
    : storage_(bytes + 256, fill), bytes_(bytes) {
  const auto address = reinterpret_cast<uintptr_t>(storage_.data());
  data_ = storage_.data() + (256 - address % 256) % 256;
}

namespace {

void set_strides(const CacheShape& shape, uint8_t* base, kvb_pages* p) {
  const int64_t element = element_bytes(shape.type);
  const int64_t dim = shape.head_dim * element;
  const int64_t tokens = shape.block_tokens;
  const int64_t heads = shape.num_kv_heads;
  p->keys = base;
  p->values = base + dim;
  p->block_stride = heads * tokens * 2 * dim;
  switch (shape.view) {
    case View::kP1:
    case View::kPackedHnd:
      p->head_stride = tokens * 2 * dim;
      p->token_stride = 2 * dim;
      break;
    case View::kPackedNhd:
      p->head_stride = 2 * dim;
      p->token_stride = heads * 2 * dim;
      break;
    case View::kSplit:  // [blocks, 2, tokens, heads, dim]
      p->values = base + tokens * heads * dim;
      p->head_stride = dim;
      p->token_stride = heads * dim;
      break;
    case View::kInline:  // K, its scale, V, its scale
      p->values = base + dim + 4;
      p->key_scales = base + dim;
      p->value_scales = base + 2 * dim + 4;
      p->token_stride = p->scale_token_stride = 2 * (dim + 4);
      p->head_stride = p->scale_head_stride = tokens * p->token_stride;
      p->block_stride = p->scale_block_stride = heads * p->head_stride;
      break;
  }
}

}  // namespace

Cache make_cache(const CacheShape& shape, uint8_t fill) {
  const int64_t element = element_bytes(shape.type);
  const int64_t page = kvb_page_bytes(shape.block_tokens, shape.head_dim, shape.scales) * element;
  Cache cache{shape,
              AlignedBytes(static_cast<size_t>(page * shape.num_kv_heads * shape.num_blocks), fill),
              {},
              {},
              {}};
  kvb_pages_p1(cache.bytes.data(), shape.num_blocks, shape.num_kv_heads, shape.block_tokens,
               shape.head_dim, shape.scales, shape.swizzle, &cache.pages);
  if (shape.view != View::kP1 || element == 2) set_strides(shape, cache.bytes.data(), &cache.pages);
  cache.pages.type = shape.type;
  if (shape.scales == KVB_SCALES_TENSOR || shape.scales == KVB_SCALES_HEAD) {
    for (int32_t head = 0; head < shape.num_kv_heads; ++head) {
      cache.key_scales.push_back(0.37f + 0.11f * static_cast<float>(head));
      cache.value_scales.push_back(0.021f + 0.01f * static_cast<float>(head));
    }
    cache.pages.key_scales = cache.key_scales.data();
    cache.pages.value_scales = cache.value_scales.data();
  }
  return cache;
}

Tokens make_tokens(int64_t num_tokens, int32_t num_kv_heads, int32_t head_dim, bool hostile,
                   uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> tail(3.f);
  Tokens tokens{{}, {}, num_tokens};
  for (int64_t i = 0; i < num_tokens * num_kv_heads; ++i) {
    for (int32_t d = 0; d < head_dim; ++d) {
      const bool outlier = d == 7 || d == head_dim / 2 + 7;
      tokens.keys.push_back(outlier ? 60.f + 8.f * normal(random) : normal(random));
      tokens.values.push_back(tail(random));
    }
  }
  if (!hostile) return tokens;
  const auto dim = static_cast<size_t>(head_dim);
  for (size_t d = 0; d < dim; ++d) tokens.keys[d] = 0.f;
  const float odd[] = {INFINITY, -INFINITY, NAN, -0.f, 3e38f, 1e-42f, -1e-30f, 449.f};
  for (size_t i = 0; i < std::size(odd); ++i) {
    tokens.values[i * 9 % (dim * 2)] = odd[i];
    tokens.keys[dim + i * 7] = odd[i];
  }
  for (size_t d = 0; d < dim; ++d) tokens.values[tokens.values.size() - 1 - d] = NAN;
  return tokens;
}

AlignedBytes to_bytes(const std::vector<float>& x, int32_t type) {
  const auto width = static_cast<size_t>(element_bytes(type));
  AlignedBytes bytes(x.size() * width);
  for (size_t i = 0; i < x.size(); ++i) {
    const uint32_t bits = type == KVB_FLOAT32   ? bits_of(x[i])
                          : type == KVB_FLOAT16 ? float_to_half(x[i])
                                                : float_to_bfloat16(x[i]);
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

std::vector<float> rounded(const std::vector<float>& x, int32_t type) {
  std::vector<float> y = x;
  for (float& value : y) {
    if (type == KVB_FLOAT16) value = half_to_float(float_to_half(value));
    if (type == KVB_BFLOAT16) value = bfloat16_to_float(float_to_bfloat16(value));
  }
  return y;
}

kvb_quantize_args make_quantize_args(const kvb_pages& pages, const AlignedBytes& keys,
                                     const AlignedBytes& values, int32_t type,
                                     const std::vector<int64_t>& slots) {
  kvb_quantize_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.pages = pages;
  a.keys = keys.data();
  a.values = values.data();
  a.key_head_stride = a.value_head_stride = pages.head_dim;
  a.key_token_stride = a.value_token_stride = int64_t{pages.head_dim} * pages.num_kv_heads;
  a.slots = slots.data();
  a.num_tokens = static_cast<int64_t>(slots.size());
  a.type = type;
  a.num_threads = 1;
  return a;
}

}  // namespace kvbudget::kernels::test
