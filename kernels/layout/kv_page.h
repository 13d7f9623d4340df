// Where the bytes of a KV page lie: the format KVB-P1 of our kernels, and MLA's 656-byte token.
//
// KVB-P1 keeps, for each (block, KV head), one contiguous page: `block_tokens` rows of K codes then
// V codes, then the K scales of all rows, then the V scales. Codes before scales keep every row
// 16-byte aligned, which vLLM's inline layout (K, fp32, V, fp32: V begins at byte 132) does not, at
// the same number of bytes: 16 tokens of head dimension 128 take 16 x 264 = 4224 bytes in both.
//
// With the swizzle flag a row's 16-byte units are permuted by token so that a tile copied to shared
// memory as it is can be read without bank conflicts. Pairs of units stay together.
// MLA's token: vllm/csrc, concat_and_cache_mla with fp8_ds_mla, August 2026.
#pragma once

#include <cstdint>

namespace kvbudget::layout {

constexpr uint32_t kPageAlignBytes = 128;
constexpr uint32_t kUnitBytes = 16;  ///< what one lane loads at once

/// Bytes of one (block, head) page; `scale_bytes` is 0 (static), 1 (power of two) or 4 (fp32).
constexpr uint64_t page_bytes(uint64_t block_tokens, uint64_t head_dim, uint64_t scale_bytes) {
  const uint64_t used = block_tokens * 2 * (head_dim + scale_bytes);
  return (used + kPageAlignBytes - 1) / kPageAlignBytes * kPageAlignBytes;
}

constexpr uint64_t key_scales_offset(uint64_t block_tokens, uint64_t head_dim) {
  return block_tokens * 2 * head_dim;
}

/// Only rows of whole 128-byte halves can be permuted without leaving their half.
constexpr bool can_swizzle(uint32_t head_dim) { return head_dim % 128 == 0; }

/// Where unit `unit` of token `token` of a page is stored. Always an even shift of an even unit.
constexpr uint32_t swizzled_unit(uint32_t unit, uint32_t token) {
  return unit ^ ((token & 1u) << 2) ^ (((token >> 1) & 3u) << 1);
}

/// A power-of-two scale as one byte: 2^(code - 127). Codes stay inside these bounds, so that
/// 448 times the scale and the scale's inverse are finite floats.
constexpr uint32_t kMinScaleCode = 1;
constexpr uint32_t kMaxScaleCode = 246;

/// DeepSeek's MLA cache entry: 512 e4m3 codes, 4 fp32 scales (one per 128), 64 bf16 RoPE values.
struct MlaToken {
  static constexpr uint32_t kLatent = 512;
  static constexpr uint32_t kRope = 64;
  static constexpr uint32_t kTile = 128;
  static constexpr uint32_t kScalesOffset = kLatent;
  static constexpr uint32_t kRopeOffset = kScalesOffset + kLatent / kTile * 4;
  static constexpr uint32_t kBytes = kRopeOffset + kRope * 2;
};

static_assert(page_bytes(16, 128, 1) == 16 * 264 && page_bytes(16, 128, 4) == 16 * 264);
static_assert(page_bytes(16, 128, 0) == 4096 && page_bytes(32, 128, 1) == 8320);
static_assert(swizzled_unit(6, 7) / 8 == 0 && swizzled_unit(9, 7) / 8 == 1);
static_assert(MlaToken::kBytes == 656 && MlaToken::kRopeOffset % 16 == 0);

}  // namespace kvbudget::layout
