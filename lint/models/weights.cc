// The tensors of a decoder as the engine holds them: vllm/model_executor/models/llama.py and its
// kin, vllm/model_executor/layers/{linear,vocab_parallel_embedding}.py. Queries, keys and values
// are one tensor, gate and up projections another.
#include "lint/models/weights.h"

#include "lint/models/block_sparse.h"
#include "lint/models/cross.h"
#include "lint/models/deepseek_v4.h"
#include "lint/models/gemma3n.h"
#include "lint/models/gemma4.h"
#include "lint/models/layers.h"
#include "lint/models/mla.h"
#include "lint/models/moe.h"
#include "lint/models/state.h"
#include "lint/models/zamba2.h"

namespace kvbudget::models {

using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

uint64_t norm_rows(Norm norm, uint64_t width) {
  switch (norm) {
    case Norm::kRms:
    case Norm::kLayerNoBias:
      return width;
    case Norm::kLayer:
      return 2 * width;
    case Norm::kNone:
      break;
  }
  return 0;
}

bool is_set(const Config& config, const Toggle& toggle) {
  return toggle.keys.empty() ? toggle.otherwise : config.flag(toggle.keys, toggle.otherwise);
}

uint64_t qk_norm_rows(const Family& family, const LayerPlan& layer) {
  switch (family.qk_norm) {
    case QkNorm::kNone:
      break;
    case QkNorm::kHead:
      return 2 * norm_rows(family.norm, layer.head_dim);
    case QkNorm::kEachHead:
    case QkNorm::kWhole:
      return (uint64_t{layer.heads} + layer.kv_heads) * layer.head_dim;
  }
  return 0;
}

// Step 3: every rank computes the vector that the queries come from, and all keys and values.
void add_shared_query(uint64_t shared, uint64_t query_rows, uint64_t kv_rows,
                      const ModelShape& shape, WeightList& list) {
  list.linear("self_attn",
              {{"q_proj", shared, Split::kNone},
               {"k_proj", kv_rows, Split::kNone},
               {"v_proj", kv_rows, Split::kNone}},
              shape.hidden_size, false);
  list.vectors("self_attn.inter_norm", shared);
  list.linear("self_attn", {{"wq", query_rows}}, shared, false);
}

void add_attention(const Config& config, const Family& family, const LayerPlan& layer,
                   const ModelShape& shape, WeightList& list) {
  const uint64_t query_rows = uint64_t{layer.heads} * layer.head_dim;
  const uint64_t key_rows = uint64_t{layer.kv_heads} * layer.head_dim;
  const uint64_t value_rows = uint64_t{layer.kv_heads} * layer.value_head_dim;
  if (!family.shared_query.empty()) {
    add_shared_query(config.required(family.shared_query, 1u << 24), query_rows, key_rows, shape,
                     list);
  } else {
    list.linear("self_attn",
                {{"q_proj", (family.output_gate ? 2 : 1) * query_rows},
                 {"k_proj", key_rows, Split::kKvHeads, layer.head_dim},
                 {"v_proj", value_rows, Split::kKvHeads, layer.value_head_dim}},
                shape.hidden_size, is_set(config, family.qkv_bias));
  }
  list.linear("self_attn", {{"o_proj", shape.hidden_size, Split::kColumns}},
              uint64_t{layer.heads} * layer.value_head_dim, is_set(config, family.out_bias));
  if (layer.gate_rows > 0) {
    list.linear("self_attn", {{"g_proj", layer.gate_rows}}, shape.hidden_size, false);
  }
  if (layer.later_window > 0) {  // how much a later pass takes of the window
    list.derived("self_attn.loop_gate", layer.heads, layer.head_dim + 1);
  }
  const uint64_t norm = qk_norm_rows(family, layer);
  if (norm > 0 && is_set(config, family.use_qk_norm)) list.vectors("self_attn.qk_norm", norm);
  if (layer.sinks) list.vectors("self_attn.sinks", layer.heads);
}

void add_mlp(const Config& config, const Family& family, uint64_t inner, const ModelShape& shape,
             WeightList& list) {
  const bool bias = is_set(config, family.mlp_bias);
  list.linear("mlp", {{"gate_proj", family.gated ? inner : 0}, {"up_proj", inner}},
              shape.hidden_size, bias);
  list.linear("mlp", {{"down_proj", shape.hidden_size, Split::kColumns}}, inner,
              bias || is_set(config, family.down_bias));
}

void add_mixer(const Config& config, const Family& family, const LayerPlan& plan, uint32_t layer,
               const ModelShape& shape, WeightList& list) {
  if (family.deepseek_v4) {
    add_compressed_attention(config, layer, shape, list);
    return add_compressed_router(config, layer, shape, list);
  }
  if (!family.mla) {
    add_attention(config, family, plan, shape, list);
    if (family.block_sparse) add_block_indexer(config, layer, shape, list);
    return;
  }
  for (uint32_t i = 0; i < family.attentions; ++i) {
    if (family.attentions > 1) list.set_part(i);
    add_latent_attention(config, layer, family.expanded_latent, shape, list);
    if (family.attentions > 1) add_mlp(config, family, shape.intermediate_size, shape, list);
  }
  list.set_part(0);
}

void add_feed(const Config& config, const Family& family, const LayerPlan& plan, uint32_t layer,
              ModelShape& shape, WeightList& list) {
  const bool both = plan.feed == Feed::kMlpAndExperts;
  if (both || plan.feed == Feed::kMlp) add_mlp(config, family, plan.mlp_width, shape, list);
  if ((both || plan.feed == Feed::kExperts) && family.moe != nullptr) {
    add_experts(config, *family.moe, layer, shape, list);
  }
}

// LongCat-Flash-Lite: tables for the n-grams that end at a token, one for each n and hash, whose
// sizes are odd numbers above a multiple of the vocabulary (longcat_flash_ngram.py, 0.32).
void add_ngrams(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t ratio = config.required("ngram_vocab_size_ratio", 1u << 16);
  const uint64_t tables =
      config.required("emb_split_num", 64) * (config.required("emb_neighbor_num", 64) - 1);
  if (tables == 0) return config.fail("key 'emb_neighbor_num' is 1");
  const uint64_t rows = tables * ratio * shape.vocab_size + tables * tables;
  const uint64_t width = shape.hidden_size / tables;
  list.outer("ngram_embeddings.oe_embedder", rows, width, Split::kVocabulary, Place::kFirstStage);
  list.outer("ngram_embeddings.oe_projection", tables * width, shape.hidden_size, Split::kNone,
             Place::kFirstStage);
}

// OPT-350m embeds in fewer dimensions than it computes in.
uint64_t add_embedding(const Config& config, const Family& family, const ModelShape& shape,
                       WeightList& list) {
  const uint64_t width =
      config.count("word_embed_proj_dim", UINT32_MAX).value_or(shape.hidden_size);
  list.outer("embed_tokens", shape.vocab_size + family.extra_embeddings, width,
             family.whole_embedding ? Split::kNone : Split::kVocabulary, Place::kFirstStage);
  if (width != shape.hidden_size) {
    list.outer("project_in", shape.hidden_size, width, Split::kNone, Place::kFirstStage);
    list.outer("project_out", width, shape.hidden_size, Split::kNone, Place::kLastStage);
  }
  if (config.has("ngram_vocab_size_ratio")) add_ngrams(config, shape, list);
  if (family.positions == Positions::kLearned) {
    const uint64_t positions = config.required(
        "max_position_embeddings|n_positions|n_ctx|max_target_positions", uint64_t{1} << 32);
    list.outer("embed_positions", positions + family.position_offset, shape.hidden_size,
               Split::kNone, Place::kFirstStage);
  }
  return width;
}

void add_head(const Family& family, const ModelShape& shape, uint64_t width, WeightList& list) {
  list.outer("norm", norm_rows(family.norm, shape.hidden_size), 1, Split::kNone, Place::kLastStage);
  if (shape.tied_embeddings) {
    list.outer("embed_tokens", shape.vocab_size, width, Split::kVocabulary, Place::kLastStageCopy);
  } else {
    list.outer("lm_head", shape.vocab_size, width, Split::kVocabulary, Place::kLastStage, true);
  }
  if (family.head_bias) {
    list.outer("lm_head.bias", shape.vocab_size, 1, Split::kVocabulary, Place::kLastStage);
  }
}

}  // namespace

void add_decoder_layer(const Config& config, const Family& family, const LayerPlan& plan,
                       uint32_t layer, WeightList& list, ModelShape& shape) {
  if (plan.attention && !family.zamba2) add_mixer(config, family, plan, layer, shape, list);
  if (plan.cross) add_cross_attention(family, plan, shape, list);
  if (plan.beside_width > 0) add_mlp(config, family, plan.beside_width, shape, list);
  if (plan.state) add_state_layer(config, family.state, shape, list);
  add_feed(config, family, plan, layer, shape, list);
  const uint64_t norm = norm_rows(family.norm, shape.hidden_size);
  if (norm > 0 && plan.norms > 0) list.vectors("layernorm", norm, plan.norms);
}

void add_weights(const Config& config, const Family& family, const std::vector<LayerPlan>& plan,
                 WeightList& list, ModelShape& shape) {
  const uint64_t width = add_embedding(config, family, shape, list);
  for (uint32_t layer = 0; layer < plan.size() && !config.failed(); ++layer) {
    list.set_layer(layer);
    add_decoder_layer(config, family, plan[layer], layer, list, shape);
  }
  if (family.zamba2) add_shared_blocks(config, plan, shape, list);
  if (family.gemma4) add_layer_embeddings(config, shape, list);
  if (config.count("altup_num_inputs", 64).value_or(0) > 0) {
    add_alternating_updates(config, shape, list);
  }
  if (family.deepseek_v4) add_compressed_head(config, shape, list);
  add_head(family, shape, width, list);
}

}  // namespace kvbudget::models
