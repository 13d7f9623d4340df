// vllm/model_executor/models/gemma4.py (0.19 to 0.33).
#include "lint/models/gemma4.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {
constexpr uint64_t kMaxWidth = 1u << 24;
}  // namespace

void adjust_gemma4_layers(const Config& config, const ModelShape& shape,
                          std::vector<LayerPlan>& plan) {
  const auto narrow = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const uint64_t head_dim = config.count("global_head_dim", kMaxWidth).value_or(shape.head_dim);
  const bool keys_are_values = config.flag("attention_k_eq_v", false);
  const uint64_t kv_heads =
      keys_are_values
          ? config.count("num_global_key_value_heads", kMaxWidth).value_or(shape.num_kv_heads)
          : shape.num_kv_heads;
  const uint64_t shared = config.count("num_kv_shared_layers", kMaxWidth).value_or(0);
  const bool wide = config.flag("use_double_wide_mlp", false);
  if (shared >= plan.size() && shared > 0) config.fail("key 'num_kv_shared_layers' is too large");
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].kind == CacheKind::kFull) {
      plan[i].head_dim = plan[i].value_head_dim = narrow(head_dim);
      plan[i].kv_heads = narrow(kv_heads);
    }
    if (i + shared < plan.size()) continue;
    plan[i].own_cache = false;
    if (wide) plan[i].mlp_width = 2 * shape.intermediate_size;
  }
}

void add_layer_embeddings(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t width = config.count("hidden_size_per_layer_input", kMaxWidth).value_or(0);
  if (width == 0) return;
  const uint64_t vocabulary =
      config.count("vocab_size_per_layer_input", 1u << 28).value_or(shape.vocab_size);
  list.outer("embed_tokens_per_layer", vocabulary, width * shape.num_layers, Split::kVocabulary,
             Place::kEveryStage);
  list.outer("per_layer_model_projection", width * shape.num_layers, shape.hidden_size,
             Split::kRows, Place::kEveryStage);
  list.outer("per_layer_projection_norm", width, 1, Split::kNone, Place::kEveryStage);
  for (uint32_t layer = 0; layer < shape.num_layers; ++layer) {
    list.set_layer(layer);
    list.router("per_layer_input_gate", width, shape.hidden_size);
    list.router("per_layer_projection", shape.hidden_size, width);
    list.vectors("post_per_layer_input_norm", shape.hidden_size);
  }
}

}  // namespace kvbudget::models
