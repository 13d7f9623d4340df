// Experts as vLLM's FusedMoE holds them: gate and up of all experts in one tensor, down of all
// experts in another, the router whole on every rank (vllm/model_executor/layers/fused_moe).
#include "lint/models/moe.h"

#include <algorithm>

namespace kvbudget::models {

using memory::ModelShape;
using memory::Split;

namespace {

constexpr uint64_t kMaxLayers = 1u << 16;
constexpr uint64_t kMaxWidth = 1u << 24;

// "4,5,6" (Step 3).
bool is_in_text(std::string_view numbers, uint32_t layer) {
  const std::string wanted = std::to_string(layer);
  return any_part(numbers, ',', [&](std::string_view number) {
    while (number.starts_with(' ')) number.remove_prefix(1);
    return number == wanted;
  });
}

// One number for all kinds of experts, or [text, images].
uint64_t of_kind(const Config& config, std::string_view key, uint32_t kind, uint64_t otherwise) {
  const Json* value = config.find(key);
  if (value == nullptr || !value->is_array()) {
    return config.count(key, 1u << 24).value_or(otherwise);
  }
  if (kind < value->size() && (*value)[kind].is_number_unsigned()) {
    const uint64_t number = (*value)[kind].get<uint64_t>();
    if (number <= 1u << 24) return number;
  }
  config.fail("key '" + std::string(key) + "' is not a pair of numbers");
  return otherwise;
}

uint64_t shared_width(const Config& config, const Moe& moe, uint64_t inner, uint32_t layer) {
  if (moe.shared_like_expert) return inner;
  const bool counted = !moe.shared_count.empty();
  const uint64_t count =
      counted ? config.count_of(layer, moe.shared_count, 1u << 16).value_or(0) : 1;
  if (moe.shared_size.empty()) return counted ? count * inner : 0;
  const std::optional<uint64_t> width = config.count_of(layer, moe.shared_size, kMaxWidth);
  if (!width) return counted ? count * inner : 0;
  return moe.shared_size_of_all ? *width : count * *width;
}

void add_shared(const Moe& moe, uint64_t width, const ModelShape& shape, WeightList& list) {
  if (width == 0) return;
  list.linear("mlp.shared_experts", {{"gate_proj", moe.gated ? width : 0}, {"up_proj", width}},
              shape.hidden_size, false);
  list.linear("mlp.shared_experts", {{"down_proj", shape.hidden_size, Split::kColumns}}, width,
              false);
  if (moe.shared_gate) list.router("mlp.shared_expert_gate", 1, shape.hidden_size);
}

// ERNIE VL: a second set of experts for images, of another width. The engine lets the two sets
// begin and end at layers of their own, which no published model does.
void add_vision_experts(const Config& config, const Moe& moe, const ModelShape& shape,
                        WeightList& list) {
  const auto last = [&](uint32_t kind) {
    return std::min<uint64_t>(of_kind(config, "moe_layer_end_index", kind, kMaxLayers),
                              shape.num_layers - 1);
  };
  const auto first = [&](uint32_t kind) {
    return of_kind(config, "moe_layer_start_index", kind, 0);
  };
  if (first(0) != first(1) || last(0) != last(1)) {
    config.fail("key 'moe_layer_start_index': experts of text and images are in other layers");
  }
  const uint64_t count = of_kind(config, moe.experts, 1, 0);
  const uint64_t inner = of_kind(config, moe.inner, 1, 0);
  list.router("mlp.vision_gate", count, shape.hidden_size);
  list.float_vector("mlp.vision_gate.e_score_correction_bias", count);
  list.experts("mlp.vision_experts", {"gate_up_proj", 2 * inner}, shape.hidden_size, count, false);
  list.experts("mlp.vision_experts", {"down_proj", shape.hidden_size, Split::kColumns}, inner,
               count, false);
}

void add_routed(const Config& config, const Moe& moe, uint64_t count, uint64_t inner,
                const ModelShape& shape, WeightList& list) {
  const uint64_t extra = config.count(moe.extra_choices, 1u << 16).value_or(0);
  const uint64_t latent = config.count(moe.latent, 1u << 24).value_or(0);
  list.router("mlp.gate", count + extra, shape.hidden_size);
  if (moe.biases) list.vectors("mlp.gate.bias", count);
  if (moe.router_bias) list.float_vector("mlp.gate.e_score_correction_bias", count + extra);
  const uint64_t width = latent > 0 ? latent : shape.hidden_size;
  if (latent > 0) {
    list.router("mlp.fc1_latent_proj", latent, shape.hidden_size);
    list.router("mlp.fc2_latent_proj", shape.hidden_size, latent);
    if (config.flag(moe.latent_norm, false)) list.vectors("mlp.latent_norm", latent);
  }
  const uint32_t parts = moe.gated ? 2 : 1;
  list.experts("mlp.experts", {"gate_up_proj", parts * inner, Split::kRows, 0, parts}, width, count,
               moe.biases);
  list.experts("mlp.experts", {"down_proj", width, Split::kColumns}, inner, count, moe.biases);
}

}  // namespace

// Which layers have experts; each family has its own keys and they do not contradict each other.
bool is_moe_layer(const Config& config, uint32_t layer) {
  const Json* types = config.find("mlp_layer_types");
  if (types != nullptr && types->is_array() && layer < types->size()) {
    return (*types)[layer] == "sparse";
  }
  const Json* flags = config.find("is_moe_layer");  // K-EXAONE
  if (flags != nullptr && flags->is_array() && layer < flags->size()) {
    return (*flags)[layer] == true;
  }
  if (config.lists("mlp_only_layers", layer)) return false;
  if (config.has("moe_layers_enum")) {
    return config.lists("moe_layers_enum", layer) ||
           is_in_text(config.text("moe_layers_enum"), layer);
  }
  const uint64_t first = config.count("first_k_dense_replace|num_dense_layers", kMaxLayers)
                             .value_or(of_kind(config, "moe_layer_start_index", 0, 0));
  if (layer < first) return false;
  if (layer > of_kind(config, "moe_layer_end_index", 0, kMaxLayers)) return false;
  constexpr std::string_view kSteps =
      "decoder_sparse_step|interleave_moe_layer_step|moe_layer_frequency";
  const uint64_t step = config.count(kSteps, kMaxLayers).value_or(1);
  if (step > 1 && (layer + 1) % step != 0) return false;
  const uint64_t period = config.count("expert_layer_period", kMaxLayers).value_or(1);
  if (period > 1 && layer % period != config.count("expert_layer_offset", kMaxLayers).value_or(0)) {
    return false;
  }
  const Json* every = config.find("moe_layer_freq");
  if (every != nullptr && every->is_array()) {  // one flag per layer
    return layer < every->size() && (*every)[layer].is_number_integer() && (*every)[layer] != 0;
  }
  const uint64_t frequency =
      config.count("moe_layer_freq|moe_layer_interval", kMaxLayers).value_or(1);
  return frequency <= 1 || layer % frequency == 0;
}

void add_experts(const Config& config, const Moe& moe, uint32_t layer, ModelShape& shape,
                 WeightList& list) {
  const auto nested = config.nested_of(layer, moe.block);
  const Config& keys = nested ? *nested : config;
  const auto size = [&](std::string_view key) {
    return moe.vision_experts ? of_kind(keys, key, 0, 0) : keys.required_of(layer, key, kMaxWidth);
  };
  const uint64_t inner = size(moe.inner);
  const uint64_t shared = shared_width(keys, moe, inner, layer);
  const Json* routed = keys.find(moe.experts);
  // Granite 4 models without routed experts keep the shared one as their MLP.
  const bool only_shared = shared > 0 && routed != nullptr && *routed == 0;
  if (!only_shared) {
    const uint64_t count = size(moe.experts);
    const uint64_t per_token = size(moe.per_token);
    shape.num_experts = std::max(shape.num_experts, static_cast<uint32_t>(count));
    shape.experts_per_token = std::max(shape.experts_per_token, static_cast<uint32_t>(per_token));
    shape.moe_intermediate_size =
        std::max(shape.moe_intermediate_size, static_cast<uint32_t>(inner));
    add_routed(keys, moe, count, inner, shape, list);
    if (moe.vision_experts) add_vision_experts(config, moe, shape, list);
  }
  add_shared(moe, shared, shape, list);
}

}  // namespace kvbudget::models
