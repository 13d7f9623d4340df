// vllm/model_executor/models/deepseek_v2.py and layers/mla.py (0.8 to 0.33). The up-projection of
// the latent vector is kept twice: as loaded, and transposed by head in the model's dtype for the
// kernels that multiply it into queries and outputs (process_weights_after_loading).
#include "lint/models/mla.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::ElementType;
using memory::LayerCache;
using memory::ModelShape;
using memory::Split;

namespace {

constexpr uint64_t kMaxWidth = 1u << 20;

struct Widths {
  uint64_t latent;  ///< kv_lora_rank
  uint64_t rotary;  ///< qk_rope_head_dim
  uint64_t plain;   ///< qk_nope_head_dim
  uint64_t value;   ///< v_head_dim
};

Widths widths_of(const Config& config) {
  return {config.required("kv_lora_rank", kMaxWidth),
          config.required("qk_rope_head_dim", kMaxWidth),
          config.required("qk_nope_head_dim", kMaxWidth), config.required("v_head_dim", kMaxWidth)};
}

// GLM-5.2 shares the choice of an indexer between neighbouring layers.
bool has_indexer(const Config& config, uint32_t layer) {
  if (!config.has("index_topk")) return false;
  const Json* types = config.find("indexer_types");
  return types == nullptr || !types->is_array() || layer >= types->size() ||
         (*types)[layer] != "shared";
}

void add_indexer(const Config& config, const ModelShape& shape, uint64_t query_rank,
                 WeightList& list) {
  const uint64_t heads = config.required("index_n_heads", kMaxWidth);
  const uint64_t width = config.required("index_head_dim", kMaxWidth);
  list.linear("self_attn.indexer", {{"wq_b", heads * width, Split::kNone}}, query_rank, false);
  list.linear("self_attn.indexer", {{"wk", width, Split::kNone}}, shape.hidden_size, false);
  list.router("self_attn.indexer.weights_proj", heads, shape.hidden_size);
}

}  // namespace

void add_latent_caches(const Config& config, LayerCache cache, ModelShape& shape) {
  const Widths widths = widths_of(config);
  cache.kind = CacheKind::kMla;
  cache.kv_heads = 1;
  if (has_indexer(config, cache.layer)) {
    LayerCache indexer = cache;
    // FP8 keys and one float32 scale for 128 of them.
    const uint64_t width = config.required("index_head_dim", kMaxWidth);
    indexer.head_dim = static_cast<uint32_t>(width + width / 128 * 4);
    indexer.stored_type = ElementType::kUInt8;
    shape.caches.push_back(std::move(indexer));
  }
  cache.head_dim = static_cast<uint32_t>(widths.latent + widths.rotary);
  shape.caches.push_back(std::move(cache));
}

void add_latent_attention(const Config& config, uint32_t layer, bool expanded,
                          const ModelShape& shape, WeightList& list) {
  const Widths widths = widths_of(config);
  const uint64_t heads = shape.num_heads;
  const uint64_t query_rows = heads * (widths.plain + widths.rotary);
  const uint64_t down_rows = widths.latent + widths.rotary;
  const uint64_t query_rank = config.count("q_lora_rank", kMaxWidth).value_or(0);
  const uint64_t gate_rows =
      config.flag("mla_use_output_gate", false) ? heads * widths.value : 0;  // Kimi-K3
  if (query_rank > 0) {
    list.linear("self_attn",
                {{"q_a_proj", query_rank, Split::kNone},
                 {"kv_a_proj_with_mqa", down_rows, Split::kNone},
                 {"g_proj", gate_rows}},
                shape.hidden_size, false);
    list.vectors("self_attn.q_a_layernorm", query_rank);
    list.linear("self_attn", {{"q_b_proj", query_rows}}, query_rank, false);
  } else {
    list.linear("self_attn", {{"q_proj", query_rows}}, shape.hidden_size, false);
    list.linear("self_attn", {{"kv_a_proj_with_mqa", down_rows, Split::kNone}}, shape.hidden_size,
                false);
    list.linear("self_attn", {{"g_proj", gate_rows}}, shape.hidden_size, false);
  }
  list.vectors("self_attn.kv_a_layernorm", widths.latent);
  const uint64_t up_rows = heads * (widths.plain + widths.value);
  list.linear("self_attn", {{"kv_b_proj", up_rows}}, widths.latent, false);
  if (!expanded) list.derived("self_attn.kv_b_proj.absorbed", up_rows, widths.latent);
  list.linear("self_attn", {{"o_proj", shape.hidden_size, Split::kColumns}}, heads * widths.value,
              false);
  if (has_indexer(config, layer)) add_indexer(config, shape, query_rank, list);
}

}  // namespace kvbudget::models
