// What one layer keeps in the KV cache, as vLLM's KVCacheSpec: the size of its page (the bytes of
// one block) and how many pages a request of a given length holds.
//
// Source: vllm/v1/kv_cache_interface.py, 0.10 to 0.33. Sizes are per rank, after tensor
// parallelism.
#pragma once

#include <cstdint>

#include "lint/memory/kv_dtype.h"
#include "lint/memory/plan_rules.h"

namespace kvbudget::memory {

enum class SpecKind : uint8_t { kFull, kMla, kSliding, kSlidingMla, kChunked, kCross, kMamba };

/// "full", "mla", "sliding", "sliding_mla", "chunked", "cross", "mamba"
const char* spec_kind_name(SpecKind kind);

struct CacheSpec {
  SpecKind kind = SpecKind::kFull;
  ElementType element = ElementType::kBFloat16;
  KvQuant quant = KvQuant::kNone;
  KvDtype mla_dtype = KvDtype::kUnset;  ///< kv-cache-dtype as an MLA layer carries it
  bool deepseek_v4 = false;
  bool backend_pads = false;   ///< the backend reads pages by their stride (0.24 to 0.28)
  bool shards_context = true;  ///< decode context parallelism divides it (never Mamba)
  uint32_t block_tokens = 16;
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;            ///< of keys; MLA: latent and rope
  uint32_t value_head_dim = 0;      ///< of values; not counted for MLA
  uint32_t window_tokens = 0;       ///< sliding; of a full layer: the window it only computes with
  uint32_t chunk_tokens = 0;        ///< chunked; of a full layer likewise
  uint32_t tokens_per_state = 1;    ///< compressed MLA keeps one entry for several tokens
  uint32_t page_alignment = 0;      ///< pages are rounded up to a multiple
  uint64_t padded_page_bytes = 0;   ///< 0: not padded
  uint32_t speculative_blocks = 0;  ///< Mamba
  uint32_t checkpoint_blocks = 0;   ///< Mamba in mode align: states kept for prefix caching
  uint32_t state_id = 0;            ///< Mamba: equal for equal shapes and types
  uint64_t state_bytes = 0;         ///< Mamba: of one state

  friend bool operator==(const CacheSpec&, const CacheSpec&) = default;
};

/// What decides how much of the cache a request holds.
struct RequestLimits {
  uint64_t window_extra_tokens = 0;  ///< held beyond a window: one batch, or all in flight
  uint64_t encoder_tokens = 0;       ///< of cross attention
  uint32_t context_shards = 1;
  enum class Mamba : uint8_t {
    kOne,
    kByLength,
    kNone,
    kAlign,
    kAll,
    kAllSpeculating
  } mamba = Mamba::kNone;
};

uint64_t unpadded_page_bytes(const CacheSpec& spec, const PlanRules& rules);
uint64_t page_bytes(const CacheSpec& spec, const PlanRules& rules);

/// Sets the padding that `page_alignment` asks for.
void align_page(CacheSpec& spec, const PlanRules& rules);

/// Pages that one request of `length` tokens holds.
uint64_t request_pages(const CacheSpec& spec, const RequestLimits& limits, uint64_t length);

}  // namespace kvbudget::memory
