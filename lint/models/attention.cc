// Keys as in vllm/transformers_utils/model_arch_config_convertor.py (0.14 on; vllm/config/model.py
// before).
#include "lint/models/attention.h"

#include <algorithm>
#include <array>

namespace kvbudget::models {

using memory::ModelShape;

namespace {

// Far above any model, low enough that products fit into 64 bits.
constexpr uint64_t kMaxLayers = 4096;
constexpr uint64_t kMaxWidth = 1u << 24;
constexpr uint64_t kMaxHeads = 1u << 16;
constexpr uint64_t kMaxVocabulary = 1u << 28;

// Attention that is not plain heads over one context, or layers that differ from each other.
constexpr std::array<std::string_view, 53> kTelltales = {
    // clang-format off
    "kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "index_topk", "compress_ratios",
    "attention_chunk_size", "global_head_dim", "num_global_key_value_heads",
    "swa_num_key_value_heads", "swa_head_dim", "v_head_dim", "num_kv_shared_layers",
    "cross_attention_layers", "cross_layer_interval", "is_encoder_decoder", "attention_types",
    "attn_type_list", "attention_window_size", "block_types", "block_configs", "interleaved_sliding_window",
    "hybrid_layer_pattern", "hybrid_override_pattern", "layers_block_type", "attn_layer_period",
    "attn_layer_indices", "full_attention_interval", "full_attn_idxs", "linear_attn_config",
    "linear_num_key_heads", "linear_num_value_heads", "ssm_cfg", "ssm_state_size", "state_size",
    "conv_L_cache", "sliding_windows", "lru_width", "mamba_d_state", "mamba_d_ssm", "mamba_num_heads",
    "mamba_n_heads", "sparse_attention_config", "use_cla", "cla_share_factor_used",
    "dual_chunk_attention_config", "num_attention_groups", "num_experts", "num_local_experts", "n_routed_experts",
    "moe_num_experts", "ffn_config", "enable_moe_block", "vision_n_layers"
    // clang-format on
};

bool is_experts(std::string_view key) { return key.find("experts") != std::string_view::npos; }

// MiniMax writes one flag per layer; ones are plain attention.
bool all_ones(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item == 1; });
}

bool innocent(std::string_view key, const Json& value) {
  if (key == "attn_type_list") return all_ones(value);
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
  constexpr std::string_view kKeys =
      "n_head_kv|num_kv_heads|num_key_value_heads|multi_query_group_num|num_attention_groups";
  return config.count(kKeys, kMaxHeads).value_or(shape.num_heads);
}

// LFM2 states the width of an MLP with two matrices and rounds what three of them leave.
uint64_t adjusted_intermediate_size(const Config& config) {
  const uint64_t stated = config.required("block_ff_dim|intermediate_size", kMaxWidth) * 2 / 3;
  const double factor = config.number("block_ffn_dim_multiplier", 1.0);
  if (!(factor > 0.0 && factor <= 64.0)) config.fail("key 'block_ffn_dim_multiplier' is too large");
  const uint64_t step = config.count("block_multiple_of", kMaxWidth).value_or(256);
  const auto width = static_cast<uint64_t>(static_cast<double>(stated) * factor);
  return step == 0 ? width : (width + step - 1) / step * step;
}

uint64_t intermediate_size(const Config& config, const Family& family, const ModelShape& shape) {
  constexpr std::string_view kKeys =
      "dense_intermediate_size|intermediate_size_mlp|prefix_dense_intermediate_size|"
      "intermediate_size|ffn_hidden_size|ffn_dim|n_inner|decoder_ffn_dim";
  if (family.attention_free) return 0;
  if (family.moe != nullptr && family.moe->inner != "intermediate_size" && !config.has(kKeys)) {
    return 0;  // every layer has experts
  }
  const uint64_t usual = 4 * uint64_t{shape.hidden_size};
  if (config.has("block_configs")) return 0;  // each layer has its own
  if (config.flag("block_auto_adjust_ff_dim", false)) return adjusted_intermediate_size(config);
  // Layers may differ in width (layers.cc).
  if (family.gated) return config.required_of(0, kKeys, kMaxWidth) / family.intermediate_divisor;
  if (config.has("expansion_ratio")) {
    return config.required("expansion_ratio", 64) * shape.hidden_size;
  }
  return config.has(kKeys) ? config.required(kKeys, kMaxWidth) : usual;
}

}  // namespace

void refuse_unknown_attention(const Config& config, const Family& family) {
  for (const std::string_view key : kTelltales) {
    const Json* value = config.find(key);
    if (value == nullptr || innocent(key, *value)) continue;
    if (family.moe != nullptr && is_experts(key)) continue;
    if (listed(family.claims, key)) continue;
    config.fail("key '" + std::string(key) + "' is not understood for this architecture");
  }
}

namespace {

void read_heads(const Config& config, const Family& family, ModelShape& shape) {
  shape.num_heads = static_cast<uint32_t>(
      config.required(family.cross == Cross::kEveryLayer ? "decoder_attention_heads"
                                                         : "num_attention_heads|n_head|n_heads",
                      kMaxHeads));
  if (family.expanded_latent) {
    shape.num_kv_heads = shape.num_heads;
    shape.head_dim = static_cast<uint32_t>(config.required("qk_nope_head_dim", kMaxWidth) +
                                           config.required("qk_rope_head_dim", kMaxWidth));
    return;
  }
  if (family.mla) {
    shape.num_kv_heads = 1;
    shape.head_dim = static_cast<uint32_t>(config.required("kv_lora_rank", kMaxWidth) +
                                           config.required("qk_rope_head_dim", kMaxWidth));
    return;
  }
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
}

}  // namespace

void read_dimensions(const Config& config, const Family& family, ModelShape& shape) {
  // NOTE: the engine counts the layers of the encoder where there are two numbers.
  shape.num_layers = static_cast<uint32_t>(config.required(
      family.cross == Cross::kEveryLayer ? "encoder_layers|num_hidden_layers"
                                         : "num_hidden_layers|n_layer|n_layers|num_layers",
      kMaxLayers));
  shape.hidden_size =
      static_cast<uint32_t>(config.required("hidden_size|n_embd|n_embed|d_model", kMaxWidth));
  if (!family.attention_free) read_heads(config, family, shape);
  shape.vocab_size = config.required("padded_vocab_size|vocab_size", kMaxVocabulary);
  shape.intermediate_size = static_cast<uint32_t>(intermediate_size(config, family, shape));
}

}  // namespace kvbudget::models
