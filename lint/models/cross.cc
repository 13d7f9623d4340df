// Facts: vllm/model_executor/models/whisper.py (0.10 to 0.32), bart.py and mllama.py (0.6 to 0.10).
// Queries come from the decoder, keys and values from the encoder: one tensor for the former, one
// for the latter, or one for all.
#include "lint/models/cross.h"

namespace kvbudget::models {

using memory::ModelShape;
using memory::Split;

namespace {

constexpr uint64_t kMaxLayers = 4096;

}  // namespace

uint32_t decoder_layers(const Config& config, const Family& family, const ModelShape& shape) {
  if (family.cross != Cross::kEveryLayer) return shape.num_layers;
  const uint64_t layers = config.required("decoder_layers", kMaxLayers);
  if (layers > shape.num_layers) {
    config.fail("key 'decoder_layers' is " + std::to_string(layers) + ", more than the " +
                std::to_string(shape.num_layers) + " layers of the encoder");
  }
  return static_cast<uint32_t>(layers);
}

void mark_cross_layers(const Config& config, const Family& family, std::vector<LayerPlan>& plan) {
  for (LayerPlan& layer : plan) layer.cross = family.cross == Cross::kEveryLayer;
  if (family.cross != Cross::kListed || config.failed()) return;
  const Json* layers = config.find("cross_attention_layers");
  if (layers == nullptr || !layers->is_array()) {
    return config.fail("key 'cross_attention_layers' is missing or not a list");
  }
  for (const Json& layer : *layers) {
    if (!layer.is_number_unsigned() || layer.get<uint64_t>() >= plan.size()) {
      return config.fail("key 'cross_attention_layers' names a layer that does not exist");
    }
    plan[layer.get<size_t>()].cross = true;
    plan[layer.get<size_t>()].attention = false;
  }
}

void add_cross_attention(const Family& family, const LayerPlan& layer, const ModelShape& shape,
                         WeightList& list) {
  const uint64_t query_rows = uint64_t{shape.num_heads} * layer.head_dim;
  const uint64_t kv_rows = uint64_t{layer.kv_heads} * layer.head_dim;
  const bool beside = family.cross == Cross::kEveryLayer;
  const std::string_view module = beside ? "encoder_attn" : "cross_attn";
  list.linear(module, {{"q_proj", query_rows}}, shape.hidden_size, beside);
  list.linear(module,
              {{"k_proj", kv_rows, Split::kKvHeads, layer.head_dim},
               {"v_proj", kv_rows, Split::kKvHeads, layer.head_dim}},
              shape.hidden_size, beside);
  list.linear(module, {{beside ? "out_proj" : "o_proj", shape.hidden_size, Split::kColumns}},
              query_rows, beside);
  if (!beside) list.vectors("cross_attn.qk_norm_and_gates", 2 * uint64_t{layer.head_dim} + 2);
}

}  // namespace kvbudget::models
