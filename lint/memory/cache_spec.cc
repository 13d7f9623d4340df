#include "lint/memory/cache_spec.h"

#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/round_up.h"

namespace kvbudget::memory {
namespace {

bool counts_value_heads(const CacheSpec& spec, const PlanRules& rules) {
  if (spec.kind == SpecKind::kFull) return rules.full_counts_value_heads;
  if (spec.kind == SpecKind::kSliding) return rules.windows_count_value_heads;
  return rules.all_count_value_heads;
}

/// Bytes of one head of one stored token.
uint64_t entry_bytes(const CacheSpec& spec, const PlanRules& rules) {
  const bool latent = spec.kind == SpecKind::kMla || spec.kind == SpecKind::kSlidingMla;
  if (latent) {
    const bool record_anyway =
        spec.kind == SpecKind::kSlidingMla && spec.deepseek_v4 && !rules.v4_record_needs_ds_dtype;
    const KvDtype dtype = record_anyway ? KvDtype::kFp8DsMla : spec.mla_dtype;
    const uint64_t record = ds_mla_record_bytes(dtype, spec.deepseek_v4);
    if (record != 0) return record;
  }
  uint32_t value_dim = latent ? 0 : spec.head_dim;
  if (!latent && counts_value_heads(spec, rules)) value_dim = spec.value_head_dim;
  return kv_head_bytes(spec.quant, spec.element, spec.head_dim, value_dim);
}

uint64_t mamba_pages(const CacheSpec& spec, RequestLimits::Mamba mode, uint64_t length) {
  const uint64_t speculative = spec.speculative_blocks;
  switch (mode) {
    case RequestLimits::Mamba::kOne:
      return 1;
    case RequestLimits::Mamba::kByLength:
    case RequestLimits::Mamba::kAll:
      return ceil_div(length, spec.block_tokens);
    case RequestLimits::Mamba::kAllSpeculating:
      return ceil_div(length, spec.block_tokens) + speculative;
    case RequestLimits::Mamba::kAlign:
      return 2 + speculative + spec.checkpoint_blocks;
    case RequestLimits::Mamba::kNone:
      return 1 + speculative;
  }
  return 0;
}

}  // namespace

const char* spec_kind_name(SpecKind kind) {
  switch (kind) {
    case SpecKind::kFull:
      return "full";
    case SpecKind::kMla:
      return "mla";
    case SpecKind::kSliding:
      return "sliding";
    case SpecKind::kSlidingMla:
      return "sliding_mla";
    case SpecKind::kChunked:
      return "chunked";
    case SpecKind::kCross:
      return "cross";
    case SpecKind::kMamba:
      return "mamba";
  }
  return "";
}

uint64_t unpadded_page_bytes(const CacheSpec& spec, const PlanRules& rules) {
  if (spec.kind == SpecKind::kMamba) return spec.state_bytes;
  const uint64_t entries = spec.block_tokens / std::max(spec.tokens_per_state, 1u);
  return mul(mul(entries, spec.kv_heads), entry_bytes(spec, rules));
}

uint64_t page_bytes(const CacheSpec& spec, const PlanRules& rules) {
  return spec.padded_page_bytes != 0 ? spec.padded_page_bytes : unpadded_page_bytes(spec, rules);
}

void align_page(CacheSpec& spec, const PlanRules& rules) {
  if (spec.page_alignment == 0) return;
  const uint64_t unpadded = unpadded_page_bytes(spec, rules);
  const uint64_t aligned = round_up(unpadded, spec.page_alignment);
  if (aligned != unpadded) spec.padded_page_bytes = aligned;
}

uint64_t request_pages(const CacheSpec& spec, const RequestLimits& limits, uint64_t length) {
  switch (spec.kind) {
    case SpecKind::kFull:
    case SpecKind::kMla:
      if (spec.shards_context) length = ceil_div(length, limits.context_shards);
      return ceil_div(length, spec.block_tokens);
    case SpecKind::kSliding:
    case SpecKind::kSlidingMla: {
      const uint64_t held =
          add(spec.window_tokens - (spec.window_tokens != 0), limits.window_extra_tokens);
      return ceil_div(std::min(held, length), spec.block_tokens) +
             1;  // it may start inside a block
    }
    case SpecKind::kChunked: {
      const uint64_t held = add(spec.chunk_tokens, limits.window_extra_tokens);
      return ceil_div(std::min(held, length), spec.block_tokens);
    }
    case SpecKind::kCross:
      return ceil_div(limits.encoder_tokens, spec.block_tokens);
    case SpecKind::kMamba:
      return mamba_pages(spec, limits.mamba, length);
  }
  return 0;
}

}  // namespace kvbudget::memory
