// What a checkpoint says about the scales of an 8-bit KV cache.
#pragma once

#include "lint/deployment.h"

namespace kvbudget {

/// The engine reads scales for keys and values beside the weights, and refuses fp8_e5m2, which has
/// none (vllm/model_executor/layers/attention/attention.py, `_init_kv_cache_quant`). False where
/// the checkpoint is not known, or is not what decides.
bool reads_kv_scales(const Deployment& d);

/// The checkpoint holds none for certain: its format has no place for them.
bool has_no_kv_scales(const Deployment& d);

}  // namespace kvbudget
