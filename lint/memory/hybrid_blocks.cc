#include "lint/memory/hybrid_blocks.h"

#include <algorithm>
#include <numeric>

#include "lint/memory/bytes.h"
#include "lint/memory/round_up.h"

namespace kvbudget::memory {
namespace {

bool is_state(const CacheSpec& spec) { return spec.kind == SpecKind::kMamba; }

/// Tokens that attention kernels want a block to be a multiple of.
uint64_t block_multiple(const HybridLayers& layers, bool latent, const PlanRules& rules) {
  constexpr uint64_t kKernelBlock = 16;
  uint64_t multiple = rules.block_flag_aligns
                          ? std::max<uint64_t>(kKernelBlock, layers.block_tokens)
                          : kKernelBlock;
  if (latent) multiple = std::max<uint64_t>(multiple, rules.hybrid_mla_tokens);
  if (layers.mode == MambaMode::kAll && rules.mamba_all_takes_chunks &&
      layers.state_chunk_tokens != 0) {
    multiple = std::lcm(multiple, uint64_t{layers.state_chunk_tokens});
  }
  return multiple;
}

/// A block that never ends: states are kept for the whole sequence.
uint32_t state_block_tokens(const HybridLayers& layers, uint64_t attention_block) {
  const uint64_t tokens = layers.mode == MambaMode::kNone ? layers.max_model_len : attention_block;
  return static_cast<uint32_t>(std::clamp<uint64_t>(tokens, 1, UINT32_MAX));
}

}  // namespace

void align_hybrid(const HybridLayers& layers, const PlanRules& rules, SpecList& specs) {
  // Layers that keep the model's dtype beside quantised ones do not count.
  const auto quantised = std::find_if(specs.begin(), specs.end(), [](const CacheSpec& spec) {
    return !is_state(spec) && spec.quant != KvQuant::kNone;
  });
  const auto attention =
      quantised != specs.end() ? quantised : std::find_if_not(specs.begin(), specs.end(), is_state);
  uint64_t state_bytes = 0;
  for (const CacheSpec& spec : specs) {
    if (is_state(spec)) state_bytes = std::max(state_bytes, spec.state_bytes);
  }
  if (state_bytes == 0) return;
  uint64_t block = layers.block_tokens;
  uint64_t page = 0;
  if (attention != specs.end()) {
    CacheSpec one_token = *attention;
    one_token.block_tokens = 1;
    const uint64_t token_bytes = std::max<uint64_t>(unpadded_page_bytes(one_token, rules), 1);
    const uint64_t multiple = block_multiple(layers, attention->kind == SpecKind::kMla, rules);
    block = std::max(block, round_up(ceil_div(state_bytes, token_bytes), multiple));
    block = std::min<uint64_t>(round_up(block, layers.block_multiple), UINT32_MAX);
    page = mul(block, token_bytes);
  }
  for (CacheSpec& spec : specs) {
    if (!is_state(spec)) {
      spec.block_tokens = static_cast<uint32_t>(block);
      continue;
    }
    spec.block_tokens = state_block_tokens(layers, block);
    if (page != spec.state_bytes) spec.padded_page_bytes = page;
  }
}

}  // namespace kvbudget::memory
