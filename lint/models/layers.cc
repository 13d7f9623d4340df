// The rules of vllm/attention/layer.py and of transformers' configuration classes: a layer's own
// window wins, else the config's window counts for every layer, unless use_sliding_window is false.
#include "lint/models/layers.h"

#include <algorithm>

#include "lint/models/block_sparse.h"
#include "lint/models/cross.h"
#include "lint/models/deepseek_v4.h"
#include "lint/models/gemma4.h"
#include "lint/models/mla.h"
#include "lint/models/moe.h"
#include "lint/models/state.h"
#include "lint/models/uneven_layers.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::LayerCache;
using memory::ModelShape;

namespace {

constexpr uint64_t kMaxLayers = 4096;
constexpr uint64_t kMaxWidth = 1u << 24;
constexpr uint64_t kMaxWindow = uint64_t{1} << 31;

// Where the windows of attention layers come from, and which layers have one.
class Windows {
 public:
  Windows(const Config& config, const Family& family) {
    if (config.flag("use_sliding_window", true)) {
      window_ = config.count("sliding_window", kMaxWindow).value_or(0);
    }
    if (config.flag("use_sliding_window", false)) {
      first_sliding_ = config.count("max_window_layers", kMaxLayers).value_or(0);
    }
    constexpr std::string_view kPattern = "sliding_window_pattern|_sliding_window_pattern";
    const Json* value = config.find(kPattern);
    if (value != nullptr && value->is_string()) {
      pattern_ = value->get<std::string>();
      if (pattern_.empty() || pattern_.find_first_not_of("LG") != std::string::npos) {
        config.fail("key 'sliding_window_pattern' is '" + pattern_ + "', expected L and G");
      }
    } else {
      full_every_ = config.count(kPattern, kMaxLayers).value_or(family.full_every);
    }
  }

  uint32_t window() const { return static_cast<uint32_t>(window_); }

  bool slides(uint32_t layer) const {
    if (window_ == 0 || layer < first_sliding_) return false;
    if (!pattern_.empty()) return pattern_[layer % pattern_.size()] == 'L';
    return full_every_ == 0 || (layer + 1) % full_every_ != 0;
  }

 private:
  std::string pattern_;  ///< "LLLG"
  uint64_t window_ = 0;
  uint64_t first_sliding_ = 0;
  uint64_t full_every_ = 0;
};

// One entry of layer_types.
void apply_type(const std::string& type, const Config& config, const Family& family,
                uint32_t window, LayerPlan& layer) {
  if (listed("sliding_attention|local|local_attention", type)) {
    if (window == 0) return;
    layer.kind = CacheKind::kSliding;
    layer.window_tokens = window;
  } else if (type == "chunked_attention") {
    layer.kind = CacheKind::kChunked;
    layer.window_tokens =
        static_cast<uint32_t>(config.required("attention_chunk_size", kMaxWindow));
  } else if (family.state != State::kNone && listed("linear_attention|mamba|conv", type)) {
    layer.attention = false;
    layer.state = true;
  } else if (!listed("full_attention|global_attention|global|attention", type)) {
    config.fail("key 'layer_types' has the unknown entry '" + type + "'");
  }
}

// Nemotron-H: M a Mamba layer, * attention, - an MLP, E experts; one thing per layer. H is both
// mixers (Zamba2).
void apply_symbol(char symbol, const Config& config, LayerPlan& layer) {
  layer.attention = symbol == '*' || symbol == 'H';
  layer.state = symbol == 'M' || symbol == 'H';
  layer.feed = symbol == '-' ? Feed::kMlp : symbol == 'E' ? Feed::kExperts : Feed::kNone;
  if (std::string_view("M*-EH").find(symbol) == std::string_view::npos) {
    config.fail("key 'hybrid_override_pattern' has the unknown symbol '" + std::string(1, symbol) +
                "'");
  }
}

// The same by name (Nemotron 3.5).
std::string symbols_of(const Config& config) {
  std::string symbols = config.text("hybrid_override_pattern");
  if (!symbols.empty()) return symbols;
  for (const std::string& name : config.texts("layers_block_type")) {
    symbols += name == "mamba"       ? 'M'
               : name == "attention" ? '*'
               : name == "moe"       ? 'E'
               : name == "mlp"       ? '-'
               : name == "hybrid"    ? 'H'
                                     : '?';
  }
  return symbols;
}

// Layers that are told apart by a period instead of a list.
bool is_attention_by_period(const Config& config, uint32_t layer) {
  const uint64_t interval =
      config.count("full_attention_interval|layer_group_size", kMaxLayers).value_or(0);
  if (interval > 0) return (layer + 1) % interval == 0;
  if (const Json* layers = config.find("attn_layer_indices")) {
    return std::find(layers->begin(), layers->end(), layer) != layers->end();
  }
  const uint64_t period = config.count("attn_layer_period", kMaxLayers).value_or(0);
  if (period == 0) return true;
  return layer % period == config.count("attn_layer_offset", kMaxLayers).value_or(0);
}

// Llama 4: layers without rotary embedding look at everything, the others at their chunk.
void apply_chunks(const Config& config, uint32_t layer, LayerPlan& plan) {
  const uint64_t chunk = config.count("attention_chunk_size", kMaxWindow).value_or(0);
  const Json* rotary = config.find("no_rope_layers");  // 1: the layer has rotary embedding
  bool everything = (layer + 1) % 4 == 0;
  if (rotary != nullptr && rotary->is_array() && layer < rotary->size()) {
    everything = (*rotary)[layer] == 0;
  }
  if (chunk == 0 || everything) return;
  plan.kind = CacheKind::kChunked;
  plan.window_tokens = static_cast<uint32_t>(chunk);
}

// Of a layer that may have experts.
Feed feed_of(const Config& config, const Moe& moe) {
  if (!moe.beside_mlp && !moe.optional) return Feed::kExperts;
  if (config.count(moe.experts, 1u << 16).value_or(0) == 0) return Feed::kMlp;
  return moe.beside_mlp ? Feed::kMlpAndExperts : Feed::kExperts;
}

void check_length(const Config& config, const char* key, size_t entries, uint32_t layers) {
  if (entries > 0 && entries < layers) {
    config.fail("key '" + std::string(key) + "' has " + std::to_string(entries) + " entries for " +
                std::to_string(layers) + " layers");
  }
}

LayerCache attention_cache(const LayerPlan& plan, uint32_t layer, CacheKind kind) {
  LayerCache cache;
  cache.layer = layer;
  cache.kind = kind;
  cache.window_tokens = plan.window_tokens;
  cache.kv_heads = plan.kv_heads;
  cache.head_dim = plan.head_dim;
  cache.value_head_dim = plan.value_head_dim;
  return cache;
}

}  // namespace

LayerPlan base_plan(const Config& config, const Family& family, uint32_t index,
                    const ModelShape& shape) {
  LayerPlan layer;
  layer.heads = shape.num_heads;
  layer.head_dim = layer.value_head_dim = shape.head_dim;
  layer.norms = family.layer_norms;
  layer.sinks = family.attention_sinks;
  layer.kv_heads = shape.num_kv_heads;
  layer.mlp_width = shape.intermediate_size;
  const Json* widths = config.find("intermediate_size");
  if (widths != nullptr && widths->is_array()) {
    layer.mlp_width =
        static_cast<uint32_t>(config.required_of(index, "intermediate_size", kMaxWidth));
  }
  layer.attention = !family.attention_free;
  layer.state = family.attention_free || family.state_beside_attention;
  if (family.attention_free) layer.feed = Feed::kNone;
  if (family.mla && !family.expanded_latent) layer.kind = CacheKind::kMla;
  return layer;
}

std::vector<LayerPlan> plan_layers(const Config& config, const Family& family, ModelShape& shape) {
  const Windows windows(config, family);
  shape.sliding_window = windows.window();
  const std::vector<std::string> types = config.texts("layer_types");
  const std::string symbols = symbols_of(config);
  check_length(config, "layer_types", types.size(), shape.num_layers);
  check_length(config, "hybrid_override_pattern", symbols.size(), shape.num_layers);
  std::vector<LayerPlan> plan;
  const uint32_t layers = decoder_layers(config, family, shape);
  for (uint32_t i = 0; i < layers && !config.failed(); ++i) {
    LayerPlan layer = base_plan(config, family, i, shape);
    if (family.moe != nullptr && is_moe_layer(config, i)) layer.feed = feed_of(config, *family.moe);
    if (!symbols.empty()) {
      apply_symbol(symbols[i], config, layer);
    } else if (!types.empty()) {
      apply_type(types[i], config, family, windows.window(), layer);
    } else if (config.has("attention_chunk_size")) {
      apply_chunks(config, i, layer);
    } else if (const auto recurrent = is_recurrent_by_list(config, family.state, i)) {
      layer.state = *recurrent;
      layer.attention = !layer.state;
    } else if (family.state != State::kNone && !layer.state) {
      layer.attention = is_attention_by_period(config, i);
      layer.state = !layer.attention;
    } else if (windows.slides(i)) {
      layer.kind = CacheKind::kSliding;
      layer.window_tokens = windows.window();
    }
    plan.push_back(layer);
  }
  if (family.adjust != nullptr && !config.failed()) family.adjust(config, shape, plan);
  if (family.gemma4) adjust_gemma4_layers(config, shape, plan);
  if (config.has("per_layer_config")) apply_layer_config(config, plan);
  mark_cross_layers(config, family, plan);
  return plan;
}

void add_layer_caches(const Config& config, const Family& family, const LayerPlan& plan,
                      uint32_t index, ModelShape& shape) {
  LayerCache cache;
  cache.layer = index;
  if (family.deepseek_v4) {
    add_compressed_caches(config, index, shape);
  } else if (family.mla && !family.expanded_latent && plan.attention) {
    for (uint32_t i = 0; i < family.attentions; ++i) add_latent_caches(config, cache, shape);
  } else if (plan.attention && plan.own_cache) {
    cache = attention_cache(plan, index, plan.kind);
    cache.block_tokens = family.block_tokens;
    if (family.block_sparse) add_block_indexer_cache(config, cache, shape);
    shape.caches.push_back(cache);
  }
  if (plan.cross) shape.caches.push_back(attention_cache(plan, index, CacheKind::kCross));
  if (!plan.state) return;
  LayerCache state;
  state.layer = index;
  fill_state_cache(config, family.state, shape, state);
  shape.caches.push_back(std::move(state));
}

void add_caches(const Config& config, const Family& family, const std::vector<LayerPlan>& plan,
                ModelShape& shape) {
  const uint64_t passes = family.passes.empty() ? 1 : config.required(family.passes, 64);
  for (uint32_t i = 0; i < plan.size() && !config.failed(); ++i) {
    LayerPlan layer = plan[i];
    for (uint64_t pass = 0; pass < passes; ++pass) {
      add_layer_caches(config, family, layer, i, shape);
      if (layer.later_window == 0) continue;
      layer.kind = CacheKind::kSliding;
      layer.window_tokens = layer.later_window;
    }
  }
  // The engine builds the shared blocks first.
  if (family.zamba2) {
    std::stable_partition(shape.caches.begin(), shape.caches.end(),
                          [](const LayerCache& cache) { return cache.state.empty(); });
  }
}

}  // namespace kvbudget::models
