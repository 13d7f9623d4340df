// Shapes as in vllm/model_executor/layers/mamba/mamba_utils.py (MambaStateShapeCalculator, 0.11 to
// 0.33), weights as in mamba_mixer.py, mamba_mixer2.py, short_conv.py, linear_attn.py,
// models/qwen3_next.py, models/kimi_linear.py and kimi_k3/nvidia/kda.py. The convolution's window
// comes first, the recurrent state second.
#include "lint/models/state.h"

#include <algorithm>

namespace kvbudget::models {

using memory::CacheKind;
using memory::ElementType;
using memory::LayerCache;
using memory::ModelShape;
using memory::Split;
using memory::StateKind;
using memory::StateTensor;

namespace {

constexpr uint64_t kMaxWidth = 1u << 24;

struct Mamba {
  uint64_t inner = 0;   ///< width of the layer
  uint64_t state = 0;   ///< per channel
  uint64_t kernel = 0;  ///< of the convolution
  uint64_t heads = 0;
  uint64_t head_dim = 0;
  uint64_t groups = 0;
};

Mamba mamba1(const Config& config, const ModelShape& shape) {
  Mamba mamba;
  mamba.state = config.required("mamba_d_state|state_size", kMaxWidth);
  mamba.kernel = config.required("mamba_d_conv|conv_kernel", 64);
  const auto expand = config.count("mamba_expand", 64);
  mamba.inner =
      expand ? *expand * shape.hidden_size : config.required("intermediate_size", kMaxWidth);
  return mamba;
}

// Without attention, Mamba 2 has the plain names.
Mamba mamba2(const Config& config, const ModelShape& shape) {
  const bool alone = shape.num_heads == 0;
  Mamba mamba;
  mamba.heads = config.required(alone ? "num_heads" : "mamba_n_heads|mamba_num_heads|n_mamba_heads",
                                kMaxWidth);
  mamba.head_dim =
      config.required(alone ? "head_dim" : "mamba_d_head|mamba_head_dim|mamba_headdim", kMaxWidth);
  mamba.groups = config.required("mamba_n_groups|n_groups|mamba_ngroups", kMaxWidth);
  mamba.state = config.required("mamba_d_state|ssm_state_size|state_size", kMaxWidth);
  mamba.kernel = config.required("mamba_d_conv|conv_kernel", 64);
  mamba.inner = mamba.heads * mamba.head_dim;
  return mamba;
}

// PLaMo 2 has heads like Mamba 2, but every head computes inputs and outputs of its own.
Mamba plamo2(const Config& config, const ModelShape& shape) {
  Mamba mamba;
  mamba.heads = config.required("mamba_num_heads", kMaxWidth);
  mamba.head_dim = shape.head_dim;
  mamba.state = config.required("mamba_d_state", kMaxWidth);
  mamba.kernel = config.required("mamba_d_conv", 64);
  mamba.inner = mamba.heads * mamba.head_dim;
  return mamba;
}

struct Delta {
  uint64_t key_heads, value_heads, key_dim, value_dim, kernel;
  uint64_t keys() const { return key_heads * key_dim; }
  uint64_t values() const { return value_heads * value_dim; }
};

Delta delta(const Config& config) {
  return {config.required("linear_num_key_heads", kMaxWidth),
          config.required("linear_num_value_heads", kMaxWidth),
          config.required("linear_key_head_dim", kMaxWidth),
          config.required("linear_value_head_dim", kMaxWidth),
          config.required("linear_conv_kernel_dim", 64)};
}

// The type of the recurrent state; the convolution's window has the model's.
ElementType state_type(const Config& config, const ModelShape& shape) {
  const std::string name = config.text("mamba_ssm_cache_dtype|mamba_ssm_dtype");
  return name == "float32" ? ElementType::kFloat32 : shape.dtype;
}

StateTensor tensor(std::vector<uint64_t> extents, uint32_t split_dim, ElementType type) {
  return {std::move(extents), split_dim, type};
}

void fill_mamba1(const Config& config, const ModelShape& shape, LayerCache& cache) {
  const Mamba mamba = mamba1(config, shape);
  cache.state_kind = StateKind::kMamba1;
  cache.state = {tensor({mamba.kernel - 1, mamba.inner}, 1, shape.dtype),
                 tensor({mamba.inner, mamba.state}, 0, state_type(config, shape))};
}

void fill_heads(const Mamba& mamba, const Config& config, const ModelShape& shape,
                LayerCache& cache) {
  const uint64_t width = mamba.inner + 2 * mamba.groups * mamba.state;
  cache.state_kind = StateKind::kMamba2;
  cache.state = {tensor({mamba.kernel - 1, width}, 1, shape.dtype),
                 tensor({mamba.heads, mamba.head_dim, mamba.state}, 0, state_type(config, shape))};
  cache.state[0].groups = mamba.groups;
  cache.state[0].group_width = 2 * mamba.state;
  cache.state_chunk_tokens =
      static_cast<uint32_t>(config.count("mamba_chunk_size|chunk_size", kMaxWidth).value_or(0));
}

void fill_delta(const Config& config, const ModelShape& shape, LayerCache& cache) {
  const Delta d = delta(config);
  cache.state_kind = StateKind::kGatedDelta;
  cache.state = {tensor({d.kernel - 1, 2 * d.keys() + d.values()}, 1, shape.dtype),
                 tensor({d.value_heads, d.value_dim, d.key_dim}, 0, state_type(config, shape))};
}

void fill_short_conv(const Config& config, const ModelShape& shape, LayerCache& cache) {
  cache.state_kind = StateKind::kShortConv;
  const uint64_t kernel = config.required("conv_L_cache", 64);
  cache.state = {tensor({kernel - 1, shape.hidden_size}, 1, shape.dtype)};
}

struct Kda {
  uint64_t heads, head_dim, kernel;
  bool full_rank_gate;
  bool full_rank_decay;
  bool flash;  ///< FlashKDA knows such layers
  uint64_t width() const { return heads * head_dim; }
};

Kda kda(const Config& config, const ModelShape& shape) {
  constexpr std::string_view kKernel = "short_conv_kernel_size";
  const auto block = config.nested("linear_attn_config");
  if (!block) {  // Ling 3
    if (!config.flag("no_kda_lora", false)) config.fail("key 'no_kda_lora' is not true");
    return {shape.num_heads,
            config.required("head_dim", kMaxWidth),
            config.required(kKernel, 64),
            true,
            true,
            false};
  }
  constexpr uint64_t kFlashHead = 128;
  const uint64_t head_dim = block->required("head_dim", kMaxWidth);
  const bool full_rank = block->flag("use_full_rank_gate", false);
  return {block->required("num_heads", kMaxWidth),
          head_dim,
          block->required(kKernel, 64),
          full_rank,
          false,
          full_rank && block->has("gate_lower_bound") && head_dim == kFlashHead};
}

// The state is float32 unless the flag says otherwise.
void fill_kda(const Config& config, const ModelShape& shape, LayerCache& cache) {
  const Kda k = kda(config, shape);
  cache.state_kind = k.flash ? StateKind::kFlashKda : StateKind::kKda;
  cache.state = {tensor({k.kernel - 1, 3 * k.width()}, 1, shape.dtype),
                 tensor({k.heads, k.head_dim, k.head_dim}, 0, ElementType::kFloat32)};
}

/// Beside latent attention the shape's head is the latent, and this one the config's.
uint64_t lightning_head(const Config& config, const ModelShape& shape) {
  return config.count("head_dim", kMaxWidth)
      .value_or(shape.hidden_size / std::max(shape.num_heads, 1u));
}

void fill_lightning(const Config& config, const ModelShape& shape, LayerCache& cache) {
  const uint64_t head = lightning_head(config, shape);
  cache.state_kind = StateKind::kLinear;
  cache.state = {tensor({shape.num_heads, head, head}, 0, shape.dtype)};
}

void add_mamba1(const Config& config, const ModelShape& shape, WeightList& list) {
  const Mamba mamba = mamba1(config, shape);
  const uint64_t rank = config.count("mamba_dt_rank|time_step_rank", kMaxWidth)
                            .value_or((shape.hidden_size + 15) / 16);
  list.linear("mamba", {{"in_proj", 2 * mamba.inner}}, shape.hidden_size, false);
  list.linear("mamba", {{"x_proj", rank + 2 * mamba.state, Split::kColumns}}, mamba.inner, false);
  list.derived("mamba.dt_proj", mamba.inner, rank + 1);
  list.derived("mamba.conv1d", mamba.inner, mamba.kernel + 1);
  list.float_rows("mamba.A_and_D", mamba.inner, mamba.state + 1);
  list.linear("mamba", {{"out_proj", shape.hidden_size, Split::kColumns}}, mamba.inner, false);
}

void add_mamba2(const Config& config, const ModelShape& shape, WeightList& list) {
  const Mamba mamba = mamba2(config, shape);
  const uint64_t grouped = 2 * mamba.groups * mamba.state;
  const auto width = static_cast<uint32_t>(2 * mamba.state);
  list.linear(
      "mamba",
      {{"in_proj", 2 * mamba.inner + mamba.heads}, {"in_proj", grouped, Split::kKvHeads, width}},
      shape.hidden_size, false);
  list.derived("mamba.conv1d", mamba.inner + grouped, mamba.kernel + 1);
  list.float_rows("mamba.A_D_dt_bias", mamba.heads, 3);
  list.derived("mamba.norm", mamba.inner, 1);
  list.linear("mamba", {{"out_proj", shape.hidden_size, Split::kColumns}}, mamba.inner, false);
}

void add_plamo2(const Config& config, const ModelShape& shape, WeightList& list) {
  const Mamba mamba = plamo2(config, shape);
  const uint64_t rank = std::max<uint64_t>(64, shape.hidden_size / 16);
  list.linear("mixer", {{"in_proj", 2 * mamba.inner}}, shape.hidden_size, false);
  list.derived("mixer.conv1d", mamba.inner, mamba.kernel);
  list.linear("mixer", {{"bcdt_proj", rank + 2 * mamba.state, Split::kColumns}}, mamba.inner,
              false);
  list.linear("mixer", {{"dt_proj", mamba.heads}}, rank, false);
  list.float_rows("mixer.A", mamba.heads, 1);
  list.derived("mixer.D_dt_bias", mamba.heads, 2);
  list.vectors("mixer.norms", rank + 2 * mamba.state);
  list.linear("mixer", {{"out_proj", shape.hidden_size, Split::kColumns}}, mamba.inner, false);
}

void add_delta(const Config& config, const ModelShape& shape, WeightList& list) {
  const Delta d = delta(config);
  list.linear("linear_attn",
              {{"in_proj_qkv", 2 * d.keys() + d.values()}, {"in_proj_z", d.values()}},
              shape.hidden_size, false);
  list.linear("linear_attn", {{"in_proj_b", d.value_heads}, {"in_proj_a", d.value_heads}},
              shape.hidden_size, false);
  list.derived("linear_attn.conv1d", 2 * d.keys() + d.values(), d.kernel);
  list.float_rows("linear_attn.A_log_dt_bias", d.value_heads, 2);
  list.vectors("linear_attn.norm", d.value_dim);
  list.linear("linear_attn", {{"out_proj", shape.hidden_size, Split::kColumns}}, d.values(), false);
}

void add_short_conv(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t width = shape.hidden_size;
  list.linear("conv", {{"in_proj", 3 * width}}, width, false);
  list.derived("conv.conv", width, config.required("conv_L_cache", 64));
  list.linear("conv", {{"out_proj", width, Split::kColumns}}, width, false);
}

// Queries, keys, values and the gate side by side; a gate of low rank has two matrices of its own.
void add_kda(const Config& config, const ModelShape& shape, WeightList& list) {
  const Kda k = kda(config, shape);
  const uint64_t hidden = shape.hidden_size;
  list.linear("self_attn",
              {{"q_proj", k.width()},
               {"k_proj", k.width()},
               {"v_proj", k.width()},
               {"g_proj", k.full_rank_gate ? k.width() : 0},
               {"f_proj", k.full_rank_decay ? k.width() : 0},
               {"f_a_proj", k.full_rank_decay ? 0 : k.head_dim, Split::kNone},
               {"b_proj", k.heads}},
              hidden, false);
  if (!k.full_rank_decay) {
    list.linear("self_attn", {{"f_b_proj", k.width()}}, k.head_dim, false);
  }
  if (!k.full_rank_gate) {
    list.linear("self_attn", {{"g_a_proj", k.head_dim, Split::kNone}}, hidden, false);
    list.linear("self_attn", {{"g_b_proj", k.width()}}, k.head_dim, false);
  }
  list.float_rows("self_attn.conv1d", 3 * k.width(), k.kernel);
  list.float_rows("self_attn.dt_bias", k.width(), 1);
  list.float_rows("self_attn.A_log", k.heads, 1);
  list.vectors("self_attn.o_norm", k.head_dim);
  list.linear("self_attn", {{"o_proj", hidden, Split::kColumns}}, k.width(), false);
}

void add_lightning(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t width = shape.num_heads * lightning_head(config, shape);
  list.linear("self_attn", {{"qkv_proj", 3 * width}}, shape.hidden_size, false);
  list.linear("self_attn", {{"output_gate", width}}, shape.hidden_size, false);
  list.linear("self_attn", {{"out_proj", shape.hidden_size, Split::kColumns}}, width, false);
  list.derived("self_attn.norm", width, 1);
}

}  // namespace

namespace {

/// Ling 3: the last layer of each group is attention, and so are those behind the last group.
bool is_recurrent_in_group(const Config& config, uint32_t layer) {
  const uint64_t group = config.required("layer_group_size", kMaxWidth);
  const uint64_t layers = config.required("num_hidden_layers", kMaxWidth);
  return (layer + 1) % group != 0 && layer < layers / group * group;
}

}  // namespace

std::optional<bool> is_recurrent_by_list(const Config& config, State kind, uint32_t layer) {
  if (kind == State::kKda) {
    const auto block = config.nested("linear_attn_config");
    if (block) return block->lists("kda_layers", uint64_t{layer} + 1);  // counted from one
    return is_recurrent_in_group(config, layer);
  }
  const Json* types = config.find("attn_type_list");
  if (kind != State::kLightning || types == nullptr) return std::nullopt;
  if (!types->is_array() || layer >= types->size()) {
    config.fail("key 'attn_type_list' has no entry for layer " + std::to_string(layer));
    return false;
  }
  return (*types)[layer] == 0;
}

void fill_state_cache(const Config& config, State kind, const ModelShape& shape,
                      LayerCache& cache) {
  cache.kind = CacheKind::kMamba;
  switch (kind) {
    case State::kNone:
      break;
    case State::kMamba1:
      return fill_mamba1(config, shape, cache);
    case State::kMamba2:
      return fill_heads(mamba2(config, shape), config, shape, cache);
    case State::kPlamo2:
      return fill_heads(plamo2(config, shape), config, shape, cache);
    case State::kGatedDelta:
      return fill_delta(config, shape, cache);
    case State::kKda:
      return fill_kda(config, shape, cache);
    case State::kLightning:
      return fill_lightning(config, shape, cache);
    case State::kShortConv:
      return fill_short_conv(config, shape, cache);
  }
}

void add_state_layer(const Config& config, State kind, const ModelShape& shape, WeightList& list) {
  switch (kind) {
    case State::kNone:
      break;
    case State::kMamba1:
      return add_mamba1(config, shape, list);
    case State::kMamba2:
      return add_mamba2(config, shape, list);
    case State::kPlamo2:
      return add_plamo2(config, shape, list);
    case State::kGatedDelta:
      return add_delta(config, shape, list);
    case State::kKda:
      return add_kda(config, shape, list);
    case State::kLightning:
      return add_lightning(config, shape, list);
    case State::kShortConv:
      return add_short_conv(config, shape, list);
  }
}

}  // namespace kvbudget::models
