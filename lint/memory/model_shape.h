// What a model is, as far as memory goes: the weights it loads and what each of its layers keeps
// per token.
//
// lint/models fills this from a config.json; everything in lint/memory computes from it alone.
// Nothing here is divided by tensor or pipeline parallelism yet; every tensor says how the engine
// divides it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout/dtype.h"

namespace kvbudget::memory {

using layout::ElementType;

/// How tensor parallelism divides a weight of [rows = outputs, columns = inputs]
/// (vllm/model_executor/layers).
enum class Split : uint8_t {
  kNone,     ///< every rank holds all of it (norms, routers, biases of row-parallel layers)
  kRows,     ///< ColumnParallelLinear: rows / tp
  kColumns,  ///< RowParallelLinear: columns / tp
  kKvHeads,  ///< rows are KV heads x head_dim (keys or values, not both): max(1, heads / tp) heads
             ///< a rank, so replicated when tp > heads
  kVocabulary,  ///< VocabParallelEmbedding: rows padded to a multiple of 64, then / tp
};

/// Which pipeline stages hold it.
enum class Place : uint8_t {
  kFirstStage,
  kLayers,
  kLastStage,
  kLastStageCopy,  ///< on the last stage unless that is the first too: tied embeddings
  kEveryStage,     ///< vision and audio towers
};

/// Encoders in front of a decoder, which settings may leave out.
enum class Encoder : uint8_t { kNone, kVision, kAudio };

/// How the numbers of a weight are stored. A tensor of R rows and C columns has
/// ceil(R / group_rows) x ceil(C / group) scales and zero points; R and C are those of one rank.
struct WeightFormat {
  ElementType type = ElementType::kBFloat16;
  bool fixed_type = false;  ///< true: stays `type` whatever --dtype says (quantised, float32)
  uint32_t bits = 16;       ///< of one element
  uint32_t group =
      0;  ///< elements of a row that share a scale: 0 none, UINT32_MAX one scale per row
  uint32_t group_rows = 1;  ///< rows that share a scale too (FP8 blocks: 128, UINT32_MAX all)
  uint32_t scale_bits = 0;
  uint32_t zero_bits = 0;  ///< of one zero point per group
  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

/// One kind of weight, in each of `layer_count` layers from `first_layer` on (layers only for
/// Place::kLayers).
struct Weight {
  std::string name;  ///< as in the checkpoint: "qkv_proj"
  uint64_t rows = 0;
  uint64_t columns = 1;
  uint64_t copies = 1;           ///< matrices in one tensor: the experts of a layer
  uint64_t separate_copies = 1;  ///< tensors that are alike, on each layer or stage that holds it
  bool fused_with_previous = false;  ///< part of the same tensor as the weight before it, which has
                                     ///< the same place, layers and separate_copies: k after q
  Split split = Split::kNone;
  Place place = Place::kLayers;
  uint32_t first_layer = 0;
  uint32_t layer_count = 0;
  uint32_t head_dim = 0;  ///< for kKvHeads: rows of one head
  uint32_t heads = 0;   ///< of kRows and kColumns: not divided where the ranks do not divide these
  bool expert = false;  ///< divided over expert-parallel ranks instead of tensor-parallel ones
  Encoder encoder = Encoder::kNone;  ///< that it is part of
  bool linear = false;  ///< a linear layer: --quantization converts it, adapters may change it
  uint32_t parts = 1;   ///< matrices side by side in `rows`: gate and up of an expert
  WeightFormat format;
};

enum class CacheKind : uint8_t { kFull, kSliding, kChunked, kMla, kSlidingMla, kCross, kMamba };

/// One tensor of recurrent state of a Mamba-like layer, on one tensor-parallel rank of one.
struct StateTensor {
  std::vector<uint64_t> shape;
  uint32_t split_dim = UINT32_MAX;  ///< dimension divided by tensor parallelism; none if UINT32_MAX
  ElementType type = ElementType::kBFloat16;
  /// Part of the divided dimension are `groups` of `group_width`; ranks that share one copy it.
  uint64_t groups = 0;
  uint64_t group_width = 0;
};

/// Families of recurrent layers, as far as the engine treats their caches differently.
/// kFlashKda: gates of KDA with a bound, whose kernels keep states for prefix caching (Kimi-K3).
enum class StateKind : uint8_t {
  kMamba1,
  kMamba2,
  kGatedDelta,
  kKda,
  kFlashKda,
  kShortConv,
  kLinear
};

/// What one layer keeps in the KV cache. Layers without a cache of their own are absent from
/// ModelShape::caches.
struct LayerCache {
  uint32_t layer = 0;  ///< index of the decoder layer: decides its pipeline stage
  CacheKind kind = CacheKind::kFull;
  uint32_t kv_heads = 0;           ///< before tensor parallelism; 1 for MLA
  uint32_t head_dim = 0;           ///< of keys; MLA: latent + rope
  uint32_t value_head_dim = 0;     ///< of values; equal to head_dim for most models, 0 for MLA
  uint32_t window_tokens = 0;      ///< sliding: the window; chunked: the chunk
  std::vector<StateTensor> state;  ///< kMamba only
  StateKind state_kind = StateKind::kMamba2;
  uint32_t state_chunk_tokens = 0;  ///< chunk of the recurrent kernel, 0 unknown
  /// Stored in this type whatever the kv-cache-dtype: the indexers of sparse MLA are bytes.
  std::optional<ElementType> stored_type;
  uint32_t tokens_per_state = 1;  ///< compressed latents: one entry for several tokens
  uint32_t block_tokens = 0;      ///< of this layer alone, whatever the block-size; 0: the engine's
  bool deepseek_v4 = false;       ///< aligned pages; records, unless there is a stored_type
};

/// Where a model's context length comes from; the engine's rules differ by version
/// (models/context.h).
struct ContextSource {
  std::vector<std::pair<std::string, uint64_t>>
      keys;  ///< position keys present in config.json, in vLLM's order
  std::optional<uint64_t> model_max_length;      ///< of config.json
  std::optional<uint64_t> tokenizer_max_length;  ///< of tokenizer_config.json beside it
  std::string rope_type;  ///< "", "linear", "dynamic", "yarn", "llama3", "longrope" …
  double rope_factor = 1.0;
  std::optional<uint64_t> rope_original_length;
};

/// What the profile run feeds a vision or audio tower: items of the largest size that the model's
/// processor accepts.
struct EncoderProfile {
  uint64_t item_tokens = 0;  ///< that one item becomes in the language model; 0 when not known
  uint64_t item_inputs = 0;  ///< elements of its pixels or features
  uint64_t item_peak = 0;    ///< elements alive in the widest layer of the tower
  /// Hidden states that the tower makes of a token: one for the embedding, one for each layer of
  /// the decoder that gets an earlier one (DeepStack).
  uint32_t output_widths = 1;
  uint64_t video_room = 0;   ///< tokens that releases 0.11 and 0.12 keep free for a video
  uint64_t kept_bytes = 0;   ///< of tables that the tower's first run makes and keeps
  uint64_t item_pixels = 0;  ///< of an image, where the processor takes a limit of pixels
  /// Videos have frames of that size, two of which count as one image, as many as the context
  /// holds.
  bool videos_fill_context = false;
};

/// What drafts tokens for a model, as the engine holds it on the last pipeline stage: an MTP layer
/// of the checkpoint, an EAGLE head, a whole model.
struct DraftLayers {
  uint32_t steps = 0;           ///< tokens that the checkpoint drafts in a row, 0 not stated
  std::vector<Weight> weights;  ///< of no layer: kLastStage, or kLastStageCopy for what one stage
                                ///< shares with the model
  std::vector<Weight> heads;    ///< copies of the model's head, which releases before 0.16 keep
  std::vector<LayerCache> caches;
};

/// What adapters of a model may change beside its linear layers, and what they know as one matrix.
struct LoraModules {
  std::optional<uint32_t> embeddings;  ///< minor release from which embeddings; null: never
  bool head = true;                    ///< with the embeddings
  bool one_qkv = false;                ///< the checkpoint holds queries, keys and values together
  bool one_gate_up = false;
  bool experts_in_one = false;  ///< gate and up of all experts are one tensor
};

struct ModelShape {
  std::string id;            ///< "meta-llama/Llama-3.1-8B-Instruct", or the path of its config
  std::string architecture;  ///< "LlamaForCausalLM"
  std::string model_type;    ///< "llama"
  std::string quantization;  ///< quant_method, empty for plain weights
  /// What --dtype auto takes: the checkpoint's, bfloat16 where that is float32 or not stated.
  ElementType dtype = ElementType::kBFloat16;
  uint32_t num_layers = 0;
  uint32_t hidden_size = 0;
  uint32_t intermediate_size = 0;  ///< of the dense MLP
  uint32_t num_heads = 0;
  uint32_t num_kv_heads = 0;  ///< of the widest layer
  uint32_t head_dim = 0;
  uint64_t vocab_size = 0;
  uint32_t num_experts = 0;  ///< routed experts, 0 for dense models
  uint32_t experts_per_token = 0;
  uint32_t moe_intermediate_size = 0;
  bool tied_embeddings = false;
  bool multimodal = false;
  EncoderProfile encoder;  ///< of multimodal models
  /// "image,video": the engine leaves the encoder out when it is to take none of these; empty when
  /// it never does.
  std::string vision_inputs;
  std::string audio_inputs;
  bool whole_encoders = false;  ///< --mm-encoder-tp-mode data is possible
  uint32_t sliding_window = 0;  ///< of config.json as the engine applies it, 0 none
  /// Rows of the rotary cos/sin caches, [rows, rotary_dim] in the model's dtype on every rank and
  /// stage; 0 without rotary embedding.
  uint64_t rotary_cache_positions = 0;
  uint32_t rotary_dim = 0;
  ContextSource context;
  std::vector<Weight> weights;
  std::vector<LayerCache> caches;
  std::optional<uint64_t> checkpoint_bytes;  ///< from the safetensors index beside the config
  std::string kv_cache_scheme;     ///< KV dtype that the checkpoint asks for ("fp8"), empty if none
  std::optional<DraftLayers> mtp;  ///< in the checkpoint, loaded only when it is asked to draft
  LoraModules lora;
  bool generates = true;  ///< false: pooling or encoder model, no KV cache

  bool has_cache(CacheKind kind) const {
    return std::any_of(caches.begin(), caches.end(),
                       [kind](const LayerCache& cache) { return cache.kind == kind; });
  }
};

}  // namespace kvbudget::memory
