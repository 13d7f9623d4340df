// vllm/models/minimax_m3/{common/indexer,nvidia/model}.py (0.24 to 0.33).
#include "lint/models/block_sparse.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::ElementType;
using memory::LayerCache;
using memory::ModelShape;
using memory::Split;

namespace {

constexpr uint64_t kMaxWidth = 1u << 20;

/// The settings of the indexers, where `layer` has one.
std::optional<Config> indexer_of(const Config& config, uint32_t layer) {
  const auto block = config.nested("sparse_attention_config");
  if (!block) config.fail("key 'sparse_attention_config' is missing");
  const Json* layers = block ? block->find("sparse_attention_freq") : nullptr;
  if (layers == nullptr) return std::nullopt;
  if (!layers->is_array() || layer >= layers->size()) {
    config.fail("key 'sparse_attention_freq' has no entry for layer " + std::to_string(layer));
    return std::nullopt;
  }
  return (*layers)[layer] == 0 ? std::nullopt : block;
}

}  // namespace

void add_block_indexer_cache(const Config& config, const LayerCache& own, ModelShape& shape) {
  const auto indexer = indexer_of(config, own.layer);
  if (!indexer) return;
  LayerCache keys = own;
  keys.kind = CacheKind::kFull;
  keys.kv_heads = 1;
  keys.head_dim = static_cast<uint32_t>(indexer->required("sparse_index_dim", kMaxWidth));
  keys.value_head_dim = 0;
  keys.stored_type = ElementType::kBFloat16;
  shape.caches.push_back(std::move(keys));
}

void add_block_indexer(const Config& config, uint32_t layer, const ModelShape& shape,
                       WeightList& list) {
  const auto indexer = indexer_of(config, layer);
  if (!indexer) return;
  const auto width = static_cast<uint32_t>(indexer->required("sparse_index_dim", kMaxWidth));
  const uint64_t heads = indexer->required("sparse_num_index_heads", kMaxWidth);
  list.linear("self_attn",
              {{"index_q_proj", heads * width, Split::kKvHeads, width},
               {"index_k_proj", width, Split::kNone}},
              shape.hidden_size, false);
  list.vectors("self_attn.index_norm", 2 * uint64_t{width});
}

}  // namespace kvbudget::models
