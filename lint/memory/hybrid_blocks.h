// Block sizes of models that mix attention with recurrent layers: the engine enlarges the attention
// block until its page holds a recurrent state, and pads the state to that page.
//
// Source: HybridAttentionMambaModelConfig in vllm/model_executor/models/config.py (to 0.19),
// _align_hybrid_block_size in vllm/platforms/interface.py (from 0.20).
#pragma once

#include <cstdint>

#include "lint/memory/plan.h"

namespace kvbudget::memory {

struct HybridLayers {
  uint32_t block_tokens = 16;       ///< the flag, or what the backend prefers
  uint32_t state_chunk_tokens = 0;  ///< of the recurrent kernel, 0 unknown
  uint32_t block_multiple = 1;      ///< that the recurrent backend asks for
  uint64_t max_model_len = 0;
  MambaMode mode = MambaMode::kNone;
};

/// Sets block sizes and padding of `specs` where they hold both kinds of layers.
void align_hybrid(const HybridLayers& layers, const PlanRules& rules, SpecList& specs);

}  // namespace kvbudget::memory
