// Keys as in vllm/transformers_utils/model_arch_config_convertor.py (0.14 on; vllm/config/model.py
// before) and vllm/attention/layer.py: a layer's own window wins, else the config's window counts
// for every layer, unless use_sliding_window is false.
#include "lint/models/attention.h"

#include <algorithm>
#include <array>

namespace kvbudget::models {

using memory::CacheKind;
using memory::LayerCache;
using memory::ModelShape;

namespace {

// Far above any model, low enough that products fit into 64 bits.
constexpr uint64_t kMaxLayers = 4096;
constexpr uint64_t kMaxWidth = 1u << 24;
constexpr uint64_t kMaxHeads = 1u << 16;
constexpr uint64_t kMaxVocabulary = 1u << 28;
constexpr uint64_t kMaxWindow = uint64_t{1} << 31;

// Attention that is not plain heads over one context, or layers that differ from each other.
constexpr std::array<std::string_view, 53> kTelltales = {
    // clang-format off
    "kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "index_topk", "compress_ratios",
    "attention_chunk_size", "global_head_dim", "num_global_key_value_heads",
    "swa_num_key_value_heads", "swa_head_dim", "v_head_dim", "num_kv_shared_layers",
    "cross_attention_layers", "cross_layer_interval", "is_encoder_decoder", "attention_types",
    "attn_type_list", "attention_window_size", "block_types", "block_configs",
    "hybrid_layer_pattern", "hybrid_override_pattern", "layers_block_type", "attn_layer_period",
    "attn_layer_indices", "full_attention_interval", "full_attn_idxs", "linear_attn_config",
    "linear_num_key_heads", "linear_num_value_heads", "ssm_cfg", "ssm_state_size", "state_size",
    "conv_L_cache", "lru_width", "mamba_d_state", "mamba_d_ssm", "mamba_num_heads",
    "mamba_n_heads", "sparse_attention_config", "use_cla", "cla_share_factor_used",
    "dual_chunk_attention_config", "num_attention_groups", "vision_config", "audio_config",
    "vision_tower", "mm_vision_tower", "num_experts", "num_local_experts", "n_routed_experts",
    "moe_num_experts", "ffn_config"
    // clang-format on
};

bool is_experts(std::string_view key) { return key.find("experts") != std::string_view::npos; }

bool innocent(std::string_view key, const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value <= (is_experts(key) ? 1 : 0);  // one expert is an MLP
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
}

uint64_t kv_heads(const Config& config, const ModelShape& shape) {
  // Falcon's older models share one KV head; the newer decoder has the key and ignores the flag.
  if (!config.flag("new_decoder_architecture", false) && config.flag("multi_query", false)) {
    return 1;
  }
  const auto nested = config.nested("attn_config");  // MPT, DBRX
  if (nested && nested->has("kv_n_heads")) return nested->required("kv_n_heads", kMaxHeads);
  if (!config.flag("multi_query_attention", true)) return shape.num_heads;
  return config.count("n_head_kv|num_kv_heads|num_key_value_heads|multi_query_group_num", kMaxHeads)
      .value_or(shape.num_heads);
}

uint64_t intermediate_size(const Config& config, const Family& family, const ModelShape& shape) {
  constexpr std::string_view kKeys =
      "intermediate_size|ffn_hidden_size|ffn_dim|n_inner|ffn_intermediate_size";
  if (family.moe != nullptr && family.moe->inner != "intermediate_size" && !config.has(kKeys)) {
    return 0;  // every layer has experts
  }
  const uint64_t usual = 4 * uint64_t{shape.hidden_size};
  if (family.gated) return config.required(kKeys, kMaxWidth) / family.intermediate_divisor;
  if (config.has("expansion_ratio")) {
    return config.required("expansion_ratio", 64) * shape.hidden_size;
  }
  return config.count(kKeys, kMaxWidth).value_or(usual);
}

// What layer_types calls a layer; nullopt when it is not one of ours.
std::optional<CacheKind> kind_of(const std::string& type) {
  if (type == "full_attention" || type == "global_attention" || type == "global") {
    return CacheKind::kFull;
  }
  if (type == "sliding_attention" || type == "local" || type == "local_attention") {
    return CacheKind::kSliding;
  }
  return std::nullopt;
}

class Windows {
 public:
  Windows(const Config& config, const Family& family, const ModelShape& shape)
      : types_(config.texts("layer_types")) {
    if (config.flag("use_sliding_window", true)) {
      window_ = config.count("sliding_window", kMaxWindow).value_or(0);
    }
    first_sliding_ = config.flag("use_sliding_window", false)
                         ? config.count("max_window_layers", kMaxLayers).value_or(0)
                         : 0;
    read_pattern(config, family);
    if (!types_.empty() && types_.size() < shape.num_layers) {
      config.fail("key 'layer_types' has " + std::to_string(types_.size()) + " entries for " +
                  std::to_string(shape.num_layers) + " layers");
    }
  }

  uint64_t window() const { return window_; }

  CacheKind kind(const Config& config, uint32_t layer) const {
    if (!types_.empty() && layer < types_.size()) {
      const std::optional<CacheKind> kind = kind_of(types_[layer]);
      if (!kind) config.fail("key 'layer_types' has the unknown entry '" + types_[layer] + "'");
      return window_ == 0 ? CacheKind::kFull : kind.value_or(CacheKind::kFull);
    }
    if (window_ == 0 || layer < first_sliding_) return CacheKind::kFull;
    if (!pattern_.empty()) {
      return pattern_[layer % pattern_.size()] == 'L' ? CacheKind::kSliding : CacheKind::kFull;
    }
    if (full_every_ > 0 && (layer + 1) % full_every_ == 0) return CacheKind::kFull;
    return CacheKind::kSliding;
  }

 private:
  // "sliding_window_pattern": 6, or "LLLG".
  void read_pattern(const Config& config, const Family& family) {
    constexpr std::string_view kKeys = "sliding_window_pattern|_sliding_window_pattern";
    const Json* value = config.find(kKeys);
    if (value != nullptr && value->is_string()) {
      pattern_ = value->get<std::string>();
      if (pattern_.empty() || pattern_.find_first_not_of("LG") != std::string::npos) {
        config.fail("key 'sliding_window_pattern' is '" + pattern_ + "', expected L and G");
      }
    } else {
      full_every_ = config.count(kKeys, kMaxLayers).value_or(family.full_every);
    }
  }

  std::vector<std::string> types_;
  std::string pattern_;
  uint64_t window_ = 0;
  uint64_t first_sliding_ = 0;
  uint64_t full_every_ = 0;
};

}  // namespace

void refuse_unknown_attention(const Config& config, const Family& family) {
  for (const std::string_view key : kTelltales) {
    const Json* value = config.find(key);
    if (value == nullptr || innocent(key, *value)) continue;
    if (family.moe != nullptr && is_experts(key)) continue;
    if (any_part(family.claims, '|', [&](std::string_view claim) { return claim == key; })) {
      continue;
    }
    config.fail("key '" + std::string(key) + "' is not understood for this architecture");
  }
}

void read_dimensions(const Config& config, const Family& family, ModelShape& shape) {
  shape.num_layers = static_cast<uint32_t>(
      config.required("num_hidden_layers|n_layer|n_layers|num_layers", kMaxLayers));
  shape.hidden_size =
      static_cast<uint32_t>(config.required("hidden_size|n_embd|n_embed|d_model", kMaxWidth));
  shape.num_heads =
      static_cast<uint32_t>(config.required("num_attention_heads|n_head|n_heads", kMaxHeads));
  shape.num_kv_heads = static_cast<uint32_t>(kv_heads(config, shape));
  if (shape.num_kv_heads == 0 || shape.num_heads % shape.num_kv_heads != 0) {
    config.fail(std::to_string(shape.num_heads) + " attention heads are not a multiple of " +
                std::to_string(shape.num_kv_heads) + " KV heads");
    shape.num_kv_heads = 1;
  }
  const uint64_t stated =
      config.count("head_dim|attention_head_dim|kv_channels|hidden_size_per_head", kMaxWidth)
          .value_or(0);
  if (stated == 0 && shape.hidden_size % shape.num_heads != 0) {
    config.fail("hidden size " + std::to_string(shape.hidden_size) + " is not a multiple of " +
                std::to_string(shape.num_heads) + " heads and key 'head_dim' is missing");
  }
  shape.head_dim = static_cast<uint32_t>(stated > 0 ? stated : shape.hidden_size / shape.num_heads);
  shape.vocab_size = config.required("padded_vocab_size|vocab_size", kMaxVocabulary);
  shape.intermediate_size = static_cast<uint32_t>(intermediate_size(config, family, shape));
}

void add_caches(const Config& config, const Family& family, ModelShape& shape) {
  const Windows windows(config, family, shape);
  shape.sliding_window = static_cast<uint32_t>(windows.window());
  for (uint32_t layer = 0; layer < shape.num_layers && !config.failed(); ++layer) {
    LayerCache cache;
    cache.layer = layer;
    cache.kind = windows.kind(config, layer);
    cache.kv_heads = shape.num_kv_heads;
    cache.head_dim = shape.head_dim;
    cache.value_head_dim = shape.head_dim;
    if (cache.kind == CacheKind::kSliding) cache.window_tokens = shape.sliding_window;
    shape.caches.push_back(std::move(cache));
  }
}

}  // namespace kvbudget::models
