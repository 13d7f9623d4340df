// What rules ask of a model's shape.
#pragma once

#include "lint/deployment.h"

namespace kvbudget {

/// False for all of these where the model is not known.
bool uses_mla(const Deployment& d);
/// Attention over tokens that an indexer chose: DeepSeek-V3.2 and V4, GLM-5, MiniMax-M3.
bool has_indexers(const Deployment& d);
bool has_sinks(const Deployment& d);
bool has_recurrent_state(const Deployment& d);
bool has_windows(const Deployment& d);
bool is_moe(const Deployment& d);

/// KV heads that tensor parallelism divides, those of the widest layer; 1 for latent attention.
uint32_t kv_heads(const Deployment& d);

}  // namespace kvbudget
