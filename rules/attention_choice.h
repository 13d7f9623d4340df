// Which attention backend the engine takes for a deployment, as it chooses itself: the first of its
// order that accepts card, heads, sinks, KV dtype and block size; or the one that is asked for.
// Source: get_attn_backend_cls of vllm/platforms/cuda.py, 0.11 to 0.32.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/engine/attention_backends.h"

namespace kvbudget {

/// Layers that the engine chooses a backend for; a model may have several kinds.
struct AttentionLayers {
  bool mla = false;
  uint32_t head_dim = 0;
  bool sinks = false;
};

struct BackendChoice {
  const AttentionBackend* backend = nullptr;  ///< null: none is left
  std::string obstacles;  ///< "FLASH_ATTN has no FP8 KV; …" of those that were passed over
};

/// Whether the choice can be followed: the card, the model and the release are known, and the
/// backend that is asked for, if any, stands in the table.
bool backend_is_known(const Deployment& d);

/// The backend that the file asks for, in today's spelling; empty when the engine chooses.
std::string forced_backend(const Deployment& d);

std::vector<AttentionLayers> attention_layers(const Deployment& d);

/// `block_tokens`: the block size that the user wants, which counts from 0.18 on.
BackendChoice choose_backend(const Deployment& d, const AttentionLayers& layers,
                             std::string_view kv_dtype,
                             std::optional<uint64_t> block_tokens = std::nullopt);

/// Why these layers cannot keep their cache in `kv_dtype`; empty when they can.
std::string why_no_backend(const Deployment& d, const AttentionLayers& layers,
                           std::string_view kv_dtype);
/// The same for the first kind of layers that cannot.
std::string why_no_backend(const Deployment& d, std::string_view kv_dtype);

/// The kv-cache-dtype that the file states; empty when none, or one that the release does not take.
std::string stated_kv_dtype(const Deployment& d);

}  // namespace kvbudget
