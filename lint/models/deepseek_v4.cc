// vllm/models/deepseek_v4/{attention,compressor}.py and nvidia/model.py (0.22 to 0.33), before that
// model_executor/layers/deepseek_v4_attention.py and deepseek_compressor.py (0.20). Matrices are
// named as there; the compressors' are never quantised.
#include "lint/models/deepseek_v4.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::ElementType;
using memory::LayerCache;
using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

constexpr uint64_t kMaxWidth = 1u << 20;
constexpr uint64_t kMaxRatio = 1u << 16;
constexpr uint64_t kIndexedRatio = 4;  ///< the one that an indexer chooses from
constexpr uint64_t kSparseRatio = 128;

/// Tokens that one compressed entry stands for; 1: the layer has its window alone.
uint64_t ratio_of(const Config& config, uint32_t layer) {
  const Json* ratios = config.find("compress_ratios");
  if (ratios == nullptr || !ratios->is_array() || layer >= ratios->size() ||
      !(*ratios)[layer].is_number_unsigned()) {
    config.fail("key 'compress_ratios' has no number for layer " + std::to_string(layer));
    return 1;
  }
  const uint64_t ratio = std::max<uint64_t>((*ratios)[layer].get<uint64_t>(), 1);
  if (ratio != 1 && ratio != kIndexedRatio && ratio != kSparseRatio) {
    config.fail("key 'compress_ratios' has " + std::to_string(ratio) + ", expected 0, 4 or 128");
  }
  return ratio;
}

/// Neighbouring entries overlap at the small ratio: twice the numbers.
uint64_t overlap_of(uint64_t ratio) { return ratio == kIndexedRatio ? 2 : 1; }

LayerCache latent(uint32_t layer, CacheKind kind, uint64_t width) {
  LayerCache cache;
  cache.layer = layer;
  cache.kind = kind;
  cache.kv_heads = 1;
  cache.head_dim = static_cast<uint32_t>(width);
  cache.deepseek_v4 = true;
  return cache;
}

/// The tokens that a compressor has not yet made an entry of: sums and scores in float32, in blocks
/// as large as a page of the entries.
LayerCache compressor_state(uint32_t layer, uint64_t ratio, uint64_t width) {
  LayerCache state = latent(layer, CacheKind::kSlidingMla, 2 * overlap_of(ratio) * width);
  state.window_tokens = static_cast<uint32_t>(overlap_of(ratio) * ratio);
  state.block_tokens = ratio == kIndexedRatio ? 4 : 8;
  state.stored_type = ElementType::kFloat32;
  return state;
}

/// Stores an entry of `ratio` tokens in `width` numbers.
LayerCache entries(uint32_t layer, uint64_t ratio, uint64_t width) {
  LayerCache cache = latent(layer, CacheKind::kMla, width);
  cache.tokens_per_state = static_cast<uint32_t>(ratio);
  return cache;
}

void add_compressor(std::string_view module, uint64_t ratio, uint64_t width,
                    const ModelShape& shape, WeightList& list) {
  const std::string name(module);
  const uint64_t rows = overlap_of(ratio) * width;
  list.float_matrix(name + ".ape", ratio, rows);
  list.router(name + ".fused_wkv_wgate", 2 * rows, shape.hidden_size);
  list.vectors(name + ".norm", width);
}

void add_indexer(const Config& config, uint64_t query_rank, uint64_t ratio, const ModelShape& shape,
                 WeightList& list) {
  const uint64_t heads = config.required("index_n_heads", kMaxWidth);
  const uint64_t width = config.required("index_head_dim", kMaxWidth);
  list.linear("attn.indexer", {{"wq_b", heads * width, Split::kNone}}, query_rank, false);
  list.router("attn.indexer.weights_proj", heads, shape.hidden_size);
  add_compressor("attn.indexer.compressor", ratio, width, shape, list);
}

/// Weights that read and write the parallel residual streams, before attention and experts.
void add_streams(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t streams = config.required("hc_mult", 64);
  const uint64_t mixes = (2 + streams) * streams;
  for (const char* name : {"hc_attn", "hc_ffn"}) {
    list.float_matrix(std::string(name) + "_fn", mixes, streams * shape.hidden_size);
    list.float_vector(std::string(name) + "_base", mixes);
    list.float_vector(std::string(name) + "_scale", 3);
  }
}

}  // namespace

void add_compressed_caches(const Config& config, uint32_t layer, ModelShape& shape) {
  constexpr uint32_t kWindowBlock = 64;
  const uint64_t ratio = ratio_of(config, layer);
  if (ratio == kIndexedRatio) {
    // FP8 keys and one float32 scale for 128 of them.
    const uint64_t width = config.required("index_head_dim", kMaxWidth);
    LayerCache indexer = entries(layer, ratio, width + width / 128 * 4);
    indexer.stored_type = ElementType::kUInt8;
    shape.caches.push_back(std::move(indexer));
    shape.caches.push_back(compressor_state(layer, ratio, width));
  }
  LayerCache window = latent(layer, CacheKind::kSlidingMla, shape.head_dim);
  window.window_tokens = static_cast<uint32_t>(config.required("sliding_window", 1u << 24));
  window.block_tokens = kWindowBlock;
  shape.caches.push_back(std::move(window));
  if (ratio == 1) return;
  shape.caches.push_back(entries(layer, ratio, shape.head_dim));
  shape.caches.push_back(compressor_state(layer, ratio, shape.head_dim));
}

void add_compressed_attention(const Config& config, uint32_t layer, const ModelShape& shape,
                              WeightList& list) {
  const uint64_t ratio = ratio_of(config, layer);
  const uint64_t query_rank = config.required("q_lora_rank", kMaxWidth);
  const uint64_t out_rank = config.required("o_lora_rank", kMaxWidth);
  const uint64_t groups = config.required("o_groups", kMaxWidth);
  const uint64_t query_rows = uint64_t{shape.num_heads} * shape.head_dim;
  list.float_vector("attn.attn_sink", shape.num_heads);
  list.linear("attn", {{"wq_a", query_rank, Split::kNone}, {"wkv", shape.head_dim, Split::kNone}},
              shape.hidden_size, false);
  list.vectors("attn.q_norm", query_rank);
  list.linear("attn", {{"wq_b", query_rows}}, query_rank, false);
  list.vectors("attn.kv_norm", shape.head_dim);
  list.linear("attn", {{"wo_a", groups * out_rank}}, query_rows / groups, false);
  list.linear("attn", {{"wo_b", shape.hidden_size, Split::kColumns}}, groups * out_rank, false);
  if (ratio == kIndexedRatio) add_indexer(config, query_rank, ratio, shape, list);
  if (ratio > 1) add_compressor("attn.compressor", ratio, shape.head_dim, shape, list);
  add_streams(config, shape, list);
}

void add_compressed_router(const Config& config, uint32_t layer, const ModelShape& shape,
                           WeightList& list) {
  if (layer < config.count("num_hash_layers", kMaxRatio).value_or(0)) {
    // Experts by token instead of by score; int32, as wide as float32.
    list.float_matrix("mlp.gate.tid2eid", shape.vocab_size,
                      config.required("num_experts_per_tok", kMaxRatio));
  } else if (config.text("topk_method") == "noaux_tc") {
    list.float_vector("mlp.gate.e_score_correction_bias",
                      config.required("n_routed_experts", kMaxWidth));
  }
}

void add_compressed_head(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t streams = config.required("hc_mult", 64);
  list.outer("hc_head_fn", streams, streams * shape.hidden_size, Split::kNone, Place::kEveryStage);
}

void set_compressed_rotary(const Config& config, ModelShape& shape) {
  const uint64_t positions =
      config.count("max_position_embeddings", uint64_t{1} << 40).value_or(1u << 20);
  shape.rotary_dim = static_cast<uint32_t>(config.required("qk_rope_head_dim", kMaxWidth));
  constexpr uint64_t kCaches = 2;
  constexpr uint64_t kFloatRows = 2;  // float32 is two of the model's 16-bit numbers
  shape.rotary_cache_positions = kCaches * kFloatRows * positions;
}

}  // namespace kvbudget::models
