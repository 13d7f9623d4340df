#include "lint/memory/spec_merge.h"

#include <algorithm>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

bool is_full(const CacheSpec& spec) {
  return spec.kind == SpecKind::kFull || spec.kind == SpecKind::kMla;
}
bool is_sliding(const CacheSpec& spec) {
  return spec.kind == SpecKind::kSliding || spec.kind == SpecKind::kSlidingMla;
}

/// The fields of AttentionSpec, the base of all attention specs.
bool same_attention(const CacheSpec& a, const CacheSpec& b, const PlanRules& rules) {
  if (rules.merge_compares_values && a.value_head_dim != b.value_head_dim) return false;
  if (rules.merge_compares_shards && a.shards_context != b.shards_context) return false;
  return a.block_tokens == b.block_tokens && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim &&
         a.element == b.element && a.quant == b.quant && a.backend_pads == b.backend_pads &&
         a.padded_page_bytes == b.padded_page_bytes && a.tokens_per_state == b.tokens_per_state &&
         (rules.mla_is_a_type || a.kind == b.kind);
}

/// The one window that the specs agree on; false when there are several.
bool common_window(const SpecList& specs, uint32_t CacheSpec::*window, uint32_t& common) {
  common = 0;
  for (const CacheSpec& spec : specs) {
    if (spec.*window == 0) continue;
    if (common != 0 && common != spec.*window) return false;
    common = spec.*window;
  }
  return true;
}

MergeResult merge_full(const SpecList& specs, const PlanRules& rules, CacheSpec& merged) {
  for (const CacheSpec& spec : specs) {
    if (!is_full(spec)) return MergeResult::kDiffer;
    if (rules.mla_is_a_type && spec.kind == SpecKind::kMla) return MergeResult::kDiffer;
  }
  merged = specs.front();
  if (!common_window(specs, &CacheSpec::window_tokens, merged.window_tokens) ||
      !common_window(specs, &CacheSpec::chunk_tokens, merged.chunk_tokens)) {
    return MergeResult::kRefused;
  }
  for (const CacheSpec& spec : specs) {
    if (!same_attention(spec, merged, rules)) return MergeResult::kDiffer;
  }
  const bool both = merged.window_tokens != 0 && merged.chunk_tokens != 0;
  return both ? MergeResult::kDiffer : MergeResult::kMerged;
}

MergeResult merge_latent(const SpecList& specs, const PlanRules& rules, CacheSpec& merged) {
  merged = specs.front();
  for (const CacheSpec& spec : specs) {
    if (spec.kind != merged.kind || spec.mla_dtype != merged.mla_dtype ||
        spec.tokens_per_state != merged.tokens_per_state ||
        spec.deepseek_v4 != merged.deepseek_v4 || spec.backend_pads != merged.backend_pads) {
      return MergeResult::kDiffer;
    }
    if (merged.kind == SpecKind::kSlidingMla && spec.window_tokens != merged.window_tokens) {
      return MergeResult::kDiffer;
    }
    if (merged.kind == SpecKind::kMla && rules.merge_compares_mla &&
        !same_attention(spec, merged, rules)) {
      return MergeResult::kDiffer;
    }
  }
  return MergeResult::kMerged;
}

/// A windowed spec that keeps blocks for every token. The layer still computes with its window.
void promote(CacheSpec& spec, const PlanRules& rules, uint32_t full_block_tokens) {
  const bool sliding = is_sliding(spec);
  const bool latent = spec.kind == SpecKind::kSlidingMla;
  if (!rules.promotion_keeps_all) {
    spec.backend_pads = false;
    if (!rules.promotion_keeps_padding) spec.padded_page_bytes = 0;
    if (!sliding || latent || !rules.promotion_keeps_values) spec.quant = KvQuant::kNone;
    if (!sliding || !rules.promotion_keeps_values) spec.value_head_dim = spec.head_dim;
    if (latent) spec.window_tokens = 0;
  }
  spec.kind = latent ? SpecKind::kMla : SpecKind::kFull;
  if (full_block_tokens == 0 || !(latent || rules.promotion_takes_block)) return;
  if (spec.padded_page_bytes != 0 && rules.promotion_takes_block) {
    CacheSpec rescaled = spec;
    rescaled.block_tokens = full_block_tokens;
    spec.padded_page_bytes = std::max(spec.padded_page_bytes, unpadded_page_bytes(rescaled, rules));
  }
  spec.block_tokens = full_block_tokens;
  align_page(spec, rules);
}

/// The block size of the full layers; 0 when they disagree.
uint32_t full_block_tokens(const SpecList& specs, const PlanRules& rules) {
  uint32_t tokens = 0;
  for (const CacheSpec& spec : specs) {
    if (!is_full(spec) || tokens == spec.block_tokens) continue;
    if (tokens != 0) return rules.promotion_takes_block ? 0 : tokens;
    tokens = spec.block_tokens;
  }
  return tokens;
}

bool is_one_type(const SpecList& specs, const PlanRules& rules, MergeResult& result) {
  CacheSpec merged;
  result = merge(specs, rules, merged);
  return result == MergeResult::kMerged ||
         (result == MergeResult::kDiffer && rules.uniform_types && is_uniform_type(specs, rules));
}

/// Promotes one set of specs that must end as one type.
bool promote_set(SpecList& specs, const PlanRules& rules) {
  MergeResult result = MergeResult::kDiffer;
  if (is_one_type(specs, rules, result)) return true;
  if (result == MergeResult::kRefused) return false;
  const bool any_full = std::any_of(specs.begin(), specs.end(), is_full);
  if (any_full) {
    const uint32_t block_tokens = full_block_tokens(specs, rules);
    for (CacheSpec& spec : specs) {
      if (is_sliding(spec) || spec.kind == SpecKind::kChunked) promote(spec, rules, block_tokens);
    }
  }
  return is_one_type(specs, rules, result);
}

}  // namespace

MergeResult merge(const SpecList& specs, const PlanRules& rules, CacheSpec& merged) {
  const CacheSpec& first = specs.front();
  if (first.kind == SpecKind::kFull || (first.kind == SpecKind::kMla && !rules.mla_is_a_type)) {
    return merge_full(specs, rules, merged);
  }
  if (first.kind == SpecKind::kMla || first.kind == SpecKind::kSlidingMla) {
    return merge_latent(specs, rules, merged);
  }
  merged = first;
  const bool equal =
      std::all_of(specs.begin(), specs.end(), [&](const CacheSpec& spec) { return spec == first; });
  return equal ? MergeResult::kMerged : MergeResult::kDiffer;
}

bool is_uniform_type(const SpecList& specs, const PlanRules& rules) {
  const CacheSpec& first = specs.front();
  const auto is_like_first = [&](const CacheSpec& spec) {
    if (spec.block_tokens != first.block_tokens) return false;
    if (rules.merge_compares_shards && spec.shards_context != first.shards_context) return false;
    switch (first.kind) {
      case SpecKind::kFull:
      case SpecKind::kMla:
        return is_full(spec);
      case SpecKind::kSliding:
        return is_sliding(spec) && spec.window_tokens == first.window_tokens;
      case SpecKind::kSlidingMla:
        return spec.kind == first.kind && spec.window_tokens == first.window_tokens;
      case SpecKind::kChunked:
        return spec.kind == first.kind && spec.chunk_tokens == first.chunk_tokens;
      case SpecKind::kCross:
        return spec.kind == first.kind;
      case SpecKind::kMamba:
        return spec.kind == first.kind && spec.speculative_blocks == first.speculative_blocks &&
               spec.checkpoint_blocks == first.checkpoint_blocks &&
               (!rules.mamba_type_compares_pages ||
                page_bytes(spec, rules) == page_bytes(first, rules));
    }
    return false;
  };
  return std::all_of(specs.begin(), specs.end(), is_like_first);
}

bool promote_windows(SpecList& specs, const PlanRules& rules) {
  if (!rules.merge_compares_shards) return promote_set(specs, rules);
  // Layers that every context-parallel rank holds whole are promoted apart from the divided ones.
  for (const bool shards : {true, false}) {
    SpecList set;
    std::vector<size_t> places;
    for (size_t i = 0; i < specs.size(); ++i) {
      if ((specs[i].shards_context || specs[i].kind == SpecKind::kMamba) != shards) continue;
      set.push_back(specs[i]);
      places.push_back(i);
    }
    if (set.empty()) continue;
    if (!promote_set(set, rules)) return false;
    for (size_t i = 0; i < places.size(); ++i) specs[places[i]] = set[i];
  }
  return true;
}

}  // namespace kvbudget::memory
