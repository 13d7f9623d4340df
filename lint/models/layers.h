// What each layer of a decoder is: attention over everything, a window or a chunk, latent
// attention, a recurrent layer, or no mixer at all.
#pragma once

#include <vector>

#include "lint/memory/model_shape.h"
#include "lint/models/config.h"
#include "lint/models/family.h"

namespace kvbudget::models {

enum class Feed : uint8_t { kNone, kMlp, kExperts, kMlpAndExperts };

struct LayerPlan {
  bool attention = true;
  bool state = false;  ///< a recurrent layer, beside attention or instead
  bool cross = false;  ///< looks at an encoder's output, beside attention or instead
  memory::CacheKind kind = memory::CacheKind::kFull;  ///< of the attention
  uint32_t window_tokens = 0;                         ///< the window or chunk
  uint32_t later_window = 0;                          ///< of passes after the first, 0 as the first
  Feed feed = Feed::kMlp;
  uint32_t heads = 0;
  uint32_t head_dim = 0;  ///< of queries and keys
  uint32_t value_head_dim = 0;
  uint32_t kv_heads = 0;
  uint32_t norms = 0;      ///< of the residual stream
  bool sinks = false;      ///< one number per head
  uint64_t gate_rows = 0;  ///< of a projection that gates the outputs
  uint32_t mlp_width = 0;
  uint32_t beside_width = 0;  ///< of an MLP beside the experts
  bool own_cache = true;      ///< false: uses the cache of an earlier layer
};

/// What all layers of a family have in common; `index` matters where widths are a list.
LayerPlan base_plan(const Config& config, const Family& family, uint32_t index,
                    const memory::ModelShape& shape);

/// One entry per layer. Sets ModelShape::sliding_window; fails on `config` for what is unknown.
std::vector<LayerPlan> plan_layers(const Config& config, const Family& family,
                                   memory::ModelShape& shape);

/// The caches of one pass through a layer.
void add_layer_caches(const Config& config, const Family& family, const LayerPlan& plan,
                      uint32_t index, memory::ModelShape& shape);

/// The caches that the layers keep.
void add_caches(const Config& config, const Family& family, const std::vector<LayerPlan>& plan,
                memory::ModelShape& shape);

}  // namespace kvbudget::models
