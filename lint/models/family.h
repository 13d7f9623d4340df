// What the decoder layers of one family of models are made of, as data.
//
// A family is one class of the engine (vllm/model_executor/models); families.cc,
// moe_families.cc, hybrid_families.cc and cross_families.cc hold the tables. Keys of a config that
// a family does not describe are never guessed at: shape.cc refuses configs with keys that change
// attention and that the family does not claim.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kvbudget::memory {
struct ModelShape;
}

namespace kvbudget::models {

class Config;
struct LayerPlan;

/// Changes the plans of layers that differ from each other by more than a window.
using AdjustLayers = void (*)(const Config&, memory::ModelShape&, std::vector<LayerPlan>&);

enum class Norm : uint8_t { kRms, kLayer, kLayerNoBias, kNone };

/// Norms of queries and keys: one head wide, one per head, or over all heads at once.
enum class QkNorm : uint8_t { kNone, kHead, kEachHead, kWhole };

/// kNone: ALiBi, or a recurrent layer tells positions apart.
enum class Positions : uint8_t { kNone, kRotary, kLearned };

/// Recurrent layers, by what they keep instead of keys and values (state.cc).
enum class State : uint8_t {
  kNone,
  kMamba1,
  kMamba2,
  kGatedDelta,
  kKda,
  kShortConv,
  kLightning,
  kPlamo2
};

/// Layers that look at what an encoder made of its input: all of them, beside their own attention
/// (Whisper, BART), or those in cross_attention_layers, instead of it (Mllama).
enum class Cross : uint8_t { kNone, kEveryLayer, kListed };

/// A yes or no that config.json may state.
struct Toggle {
  std::string_view keys = {};  ///< "a|b"; empty: never stated
  bool otherwise = false;
};

/// A mixture of experts in place of the MLP (of some layers: see is_moe_layer in moe.cc).
struct Moe {
  std::string_view experts = "num_experts|num_local_experts|n_routed_experts|moe_num_experts";
  std::string_view per_token = "num_experts_per_tok|moe_k|moe_topk|moe_top_k|top_k_experts";
  std::string_view inner = "moe_intermediate_size";  ///< width of one expert
  std::string_view shared_size = {};                 ///< width of a shared expert, stated
  std::string_view shared_count = {};  ///< a number of shared experts, of `inner` when not stated
  bool shared_like_expert = false;     ///< or always one, as wide as a routed one
  bool shared_gate = false;            ///< a gate of one row for the shared expert
  std::string_view latent = {};        ///< experts work in this narrower width (Nemotron 3)
  std::string_view latent_norm = {};   ///< the toggle of a norm on what leaves it
  bool router_bias = false;            ///< float32 correction of the scores
  bool biases = false;                 ///< experts and router have biases (gpt-oss)
  bool gated = true;
  bool vision_experts = false;      ///< sizes are pairs: experts of text, and others of images
  bool beside_mlp = false;          ///< experts, where the config has them, beside an MLP (Gemma 4)
  bool optional = false;            ///< an MLP where no experts are stated
  bool shared_size_of_all = false;  ///< `shared_size` counts all shared experts already
  std::string_view block = {};      ///< the object with the keys above, or one for each layer
  std::string_view extra_choices = {};  ///< rows of the router that are no experts (LongCat)
};

struct Family {
  std::string_view architectures = {};  ///< "LlamaForCausalLM|…"
  std::string_view model_types = {};    ///< of config.json, for configs without architectures
  std::string_view defaults = {};       ///< of the class in transformers, "key=value,…"
  /// More defaults, for the text part of a multimodal config: those are written without what the
  /// class assumes anyway.
  std::string_view nested_defaults = {};
  Norm norm = Norm::kRms;
  uint32_t layer_norms = 2;
  bool gated = true;  ///< gate and up projections, or up alone
  Toggle qkv_bias = {};
  Toggle out_bias = {};
  Toggle mlp_bias = {};
  Toggle down_bias = {};  ///< of the second matrix of the MLP alone
  bool head_bias = false;
  QkNorm qk_norm = QkNorm::kNone;
  Toggle use_qk_norm = {.otherwise = true};
  bool tied = false;  ///< tie_word_embeddings when absent
  Positions positions = Positions::kRotary;
  uint32_t position_offset = 0;         ///< extra rows of learned positions
  Cross cross = Cross::kNone;           ///< the numbers of kEveryLayer are called decoder_...
  bool whole_embedding = false;         ///< no rank divides the embeddings
  double rotary_fraction = 1.0;         ///< of head_dim, when the config does not say
  uint32_t intermediate_divisor = 1;    ///< QWen counts gate and up together
  uint32_t full_every = 0;              ///< sliding layers, every n-th full, when not stated
  bool local_rope = false;              ///< sliding layers have a rotary cache of their own
  bool float_rope = false;              ///< its rotary cache is float32 whatever the dtype
  bool attention_sinks = false;         ///< one number per head
  uint32_t extra_embeddings = 0;        ///< rows of the embedding that the head does not have
  std::string_view shared_query = {};   ///< key: queries come from one narrower vector
  bool output_gate = false;             ///< queries are twice as wide: half of them gate the output
  bool mla = false;                     ///< latent attention (mla.cc)
  uint32_t attentions = 1;              ///< of a layer, each with an MLP (LongCat)
  bool expanded_latent = false;         ///< weights of latent attention, a cache of plain heads
  State state = State::kNone;           ///< of the layers that are not attention
  bool state_beside_attention = false;  ///< every layer has both
  AdjustLayers adjust = nullptr;        ///< uneven_layers.h
  bool zamba2 = false;                  ///< layers share attention blocks (zamba2.h)
  bool gemma4 = false;                  ///< layers that differ as gemma4.h says (Gemma 3n's too)
  bool block_sparse = false;            ///< indexers beside attention (block_sparse.h)
  uint32_t block_tokens = 0;            ///< of the kernels' pages, whatever the flag
  bool deepseek_v4 = false;             ///< compressed latents (deepseek_v4.cc)
  bool attention_free = false;          ///< no layer is attention
  std::string_view passes = {};         ///< how often all layers run, each pass with its caches
  std::string_view claims = {};         ///< keys of attention that this family understands
  const Moe* moe = nullptr;
};

/// The family of an architecture, or by model type when `architecture` is empty.
const Family* find_family(std::string_view architecture, std::string_view model_type);

std::span<const Family> dense_families();
std::span<const Family> layer_norm_families();
std::span<const Family> moe_families();
std::span<const Family> hybrid_families();
std::span<const Family> vision_families();
std::span<const Family> audio_families();
std::span<const Family> cross_families();

}  // namespace kvbudget::models
