// vllm/model_executor/models/{laguna,mimo_v2,step3p5,nemotron_nas}.py (0.14 to 0.32).
#include "lint/models/uneven_layers.h"

#include <algorithm>
#include <charconv>

namespace kvbudget::models {

using memory::CacheKind;
using memory::ModelShape;

namespace {

constexpr uint64_t kMaxHeads = 1u << 16;
constexpr uint64_t kMaxWidth = 1u << 24;

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(value); }

// The entry of a list with one for each layer, nullptr when the list is too short.
const Json* entry_of(const Config& config, const char* key, size_t layer) {
  const Json* list = config.find(key);
  if (list != nullptr && list->is_array() && layer < list->size()) return &(*list)[layer];
  config.fail("key '" + std::string(key) + "' has no entry for layer " + std::to_string(layer));
  return nullptr;
}

void set_heads(const Config& config, uint64_t heads, uint64_t kv_heads, LayerPlan& layer) {
  layer.heads = narrow(heads);
  layer.kv_heads = narrow(kv_heads);
  if (kv_heads > 0 && heads > 0 && heads % kv_heads == 0) return;
  config.fail(std::to_string(heads) + " attention heads of a layer are not a multiple of " +
              std::to_string(kv_heads) + " KV heads");
}

// DeciLM gives the width of an MLP as a multiple of the hidden size, for two matrices of three.
uint64_t width_of_multiple(double multiple, uint64_t hidden_size) {
  constexpr uint64_t kStep = 256;
  const auto width = static_cast<uint64_t>(2.0 * multiple * static_cast<double>(hidden_size) / 3.0);
  return (width + kStep - 1) / kStep * kStep;
}

void apply_attention(const Config& block, const ModelShape& shape, LayerPlan& layer) {
  layer.attention = !block.flag("no_op", false);
  if (block.flag("replace_with_linear", false)) {
    block.fail("key 'replace_with_linear' is not understood for this architecture");
  }
  if (!layer.attention) return;
  const uint64_t in_group = block.required("n_heads_in_group", kMaxHeads);
  set_heads(block, shape.num_heads, shape.num_heads / in_group, layer);
}

void apply_mlp(const Config& block, const ModelShape& shape, LayerPlan& layer) {
  layer.feed = block.flag("no_op", false) ? Feed::kNone : Feed::kMlp;
  if (block.flag("replace_with_linear", false)) {
    block.fail("key 'replace_with_linear' is not understood for this architecture");
  }
  if (layer.feed == Feed::kNone) return;
  const double multiple = block.number("ffn_mult", 0.0);
  if (multiple < 0.0 || multiple > 1024.0) block.fail("key 'ffn_mult' is out of range");
  layer.mlp_width = narrow(multiple > 0.0 ? width_of_multiple(multiple, shape.hidden_size)
                                          : block.required("intermediate_size", kMaxWidth));
}

}  // namespace

void adjust_laguna(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  const Json* gating = config.find("gating");
  const bool by_element = gating != nullptr && *gating == "per-element";
  const bool by_head = gating == nullptr || *gating == true || *gating == "per-head";
  if (!by_element && !by_head && *gating != false) {
    config.fail("key 'gating' is " + gating->dump() + ", expected true, per-head or per-element");
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    LayerPlan& layer = plan[i];
    if (config.has("num_attention_heads_per_layer")) {
      const Json* heads = entry_of(config, "num_attention_heads_per_layer", i);
      if (heads == nullptr || !heads->is_number_unsigned() || *heads > kMaxHeads) {
        return config.fail("key 'num_attention_heads_per_layer' has no number for layer " +
                           std::to_string(i));
      }
      set_heads(config, heads->get<uint64_t>(), layer.kv_heads, layer);
    }
    if (by_head) layer.gate_rows = layer.heads;
    if (by_element) layer.gate_rows = uint64_t{layer.heads} * layer.head_dim;
  }
}

void adjust_mimo_v2(const Config& config, ModelShape& shape, std::vector<LayerPlan>& plan) {
  const uint64_t window = config.required("sliding_window_size|sliding_window", 1u << 30);
  const uint64_t heads = config.required("swa_num_attention_heads", kMaxHeads);
  const uint64_t kv_heads = config.required("swa_num_key_value_heads", kMaxHeads);
  const uint64_t head_dim = config.required("swa_head_dim", kMaxWidth);
  const uint64_t value_dim = config.count("swa_v_head_dim", kMaxWidth).value_or(head_dim);
  const uint64_t full_value_dim = config.count("v_head_dim", kMaxWidth).value_or(shape.head_dim);
  const bool sinks = config.flag("add_swa_attention_sink_bias", false);
  for (size_t i = 0; i < plan.size() && !config.failed(); ++i) {
    LayerPlan& layer = plan[i];
    const Json* slides = entry_of(config, "hybrid_layer_pattern", i);
    const bool sliding = slides != nullptr && *slides == 1;
    layer.kind = sliding ? CacheKind::kSliding : CacheKind::kFull;
    layer.window_tokens = sliding ? narrow(window) : 0;
    layer.value_head_dim = narrow(sliding ? value_dim : full_value_dim);
    layer.sinks = sliding && sinks;
    if (!sliding) continue;
    layer.head_dim = narrow(head_dim);
    set_heads(config, heads, kv_heads, layer);
  }
}

void adjust_step3p5(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  const bool gates = config.flag("use_head_wise_attn_gate", false);
  const auto other = config.nested("attention_other_setting");
  const std::string type = other ? other->text("attention_type") : "";
  const std::vector<std::string> types = config.texts("layer_types");
  for (size_t i = 0; i < plan.size() && !config.failed(); ++i) {
    LayerPlan& layer = plan[i];
    if (other && i < types.size() && types[i] == type) {
      layer.head_dim = narrow(other->required("head_dim", kMaxWidth));
      layer.value_head_dim = layer.head_dim;
      set_heads(config, other->required("num_attention_heads", kMaxHeads),
                other->required("num_attention_groups", kMaxHeads), layer);
    }
    if (gates) layer.gate_rows = layer.heads;
  }
}

void adjust_windows(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  if (!config.has("interleaved_sliding_window")) return;
  for (size_t i = 0; i < plan.size() && !config.failed(); ++i) {
    const Json* window = entry_of(config, "interleaved_sliding_window", i);
    const bool slides = window != nullptr && window->is_number_unsigned() && *window <= kMaxWidth;
    plan[i].kind = slides ? CacheKind::kSliding : CacheKind::kFull;
    plan[i].window_tokens = slides ? narrow(window->get<uint64_t>()) : 0;
  }
}

void adjust_loops(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  const uint64_t window = config.required("loop_window_size", kMaxWidth);
  for (LayerPlan& layer : plan) layer.later_window = narrow(window);
}

void adjust_outer_norms(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  if (!config.flag("sandwich_norm|use_post_norm", false)) return;
  for (LayerPlan& layer : plan) layer.norms += 2;
}

void adjust_grok(const Config& config, ModelShape& shape, std::vector<LayerPlan>& plan) {
  if (!config.flag("residual_moe", false)) return;
  for (LayerPlan& layer : plan) layer.beside_width = shape.intermediate_size;
}

void adjust_arctic(const Config& config, ModelShape& shape, std::vector<LayerPlan>& plan) {
  if (!config.flag("use_residual", false)) return;
  for (LayerPlan& layer : plan) {
    if (layer.feed != Feed::kExperts) continue;
    layer.beside_width = shape.hidden_size;
    ++layer.norms;
  }
}

void adjust_plamo2(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  const uint64_t step = config.required("mamba_step", kMaxHeads);
  for (size_t i = 0; i < plan.size(); ++i) {
    const bool last = i + 1 == plan.size();
    plan[i].attention = plan.size() <= step / 2 ? last : i % step == step / 2;
    plan[i].state = !plan[i].attention;
  }
}

void check_bamba(const Config& config, ModelShape&, std::vector<LayerPlan>&) {
  if (config.has("attn_layer_indices") || config.has("layer_types")) return;
  config.fail("key 'attn_layer_indices' is missing");
}

void check_jais(const Config& config, ModelShape&, std::vector<LayerPlan>&) {
  const std::string positions = config.text("position_embedding_type");
  const std::string activation = config.text("activation_function");
  if (positions != "alibi") config.fail("key 'position_embedding_type' is not alibi");
  if (activation != "swiglu") config.fail("key 'activation_function' is not swiglu");
}

void adjust_blocks(const Config& config, ModelShape& shape, std::vector<LayerPlan>& plan) {
  shape.num_kv_heads = 1;
  for (size_t i = 0; i < plan.size() && !config.failed(); ++i) {
    const auto block = config.nested_of(narrow(i), "block_configs");
    if (!block) return config.fail("key 'block_configs' is missing");
    const auto attention = block->nested("attention");
    const auto mlp = block->nested("ffn");
    if (!attention || !mlp) return config.fail("key 'block_configs' has no attention and ffn");
    apply_attention(*attention, shape, plan[i]);
    apply_mlp(*mlp, shape, plan[i]);
    plan[i].norms = (plan[i].attention ? 1 : 0) + (plan[i].feed == Feed::kMlp ? 1 : 0);
    if (plan[i].attention) shape.num_kv_heads = std::max(shape.num_kv_heads, plan[i].kv_heads);
    shape.intermediate_size = std::max(shape.intermediate_size, plan[i].mlp_width);
  }
}

void adjust_puzzle(const Config& config, ModelShape&, std::vector<LayerPlan>& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const auto block = config.nested_of(narrow(i), "block_configs");
    if (!block) return config.fail("key 'block_configs' is missing");
    const std::string type = block->text("block_type");
    if (!listed("attention|mamba|moe|mlp", type)) {
      return config.fail("key 'block_configs' has the unknown type '" + type + "'");
    }
    LayerPlan& layer = plan[i];
    layer.attention = type == "attention";
    layer.state = type == "mamba";
    layer.feed = type == "moe" ? Feed::kExperts : type == "mlp" ? Feed::kMlp : Feed::kNone;
    if (type == "mlp") layer.mlp_width = narrow(block->required("intermediate_size", kMaxWidth));
    const uint64_t window = block->count("sliding_window", kMaxWidth).value_or(0);
    layer.kind = window > 0 ? CacheKind::kSliding : CacheKind::kFull;
    layer.window_tokens = narrow(window);
    for (const auto& [key, value] : block->json().items()) {
      const bool mixer = layer.attention || layer.state;
      if (!mixer || value.is_null() || key == "block_type" || key == "sliding_window") continue;
      return config.fail("key 'block_configs." + key + "' is not understood");
    }
  }
}

void apply_layer_config(const Config& config, std::vector<LayerPlan>& plan) {
  const auto layers = config.nested("per_layer_config");
  if (!layers) return config.fail("key 'per_layer_config' is not an object");
  for (const auto& [name, value] : layers->json().items()) {
    const auto layer = layers->nested(name);
    size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (!layer || error != std::errc() || *end != 0 || index >= plan.size()) {
      return config.fail("key 'per_layer_config' has no layer '" + name + "'");
    }
    for (const auto& [key, unused] : value.items()) {
      if (key == "head_dim" || key == "num_key_value_heads") continue;
      return config.fail("key 'per_layer_config." + name + "." + key + "' is not understood");
    }
    LayerPlan& own = plan[index];
    own.head_dim = narrow(layer->count("head_dim", kMaxWidth).value_or(own.head_dim));
    own.value_head_dim = own.head_dim;
    own.kv_heads = narrow(layer->count("num_key_value_heads", kMaxHeads).value_or(own.kv_heads));
  }
}

}  // namespace kvbudget::models
