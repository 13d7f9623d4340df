// EAGLE heads: vllm/model_executor/models/llama_eagle.py and llama_eagle3.py, the names of their
// classes in vllm/transformers_utils/configs/eagle.py, the speculators format in
// configs/speculators (0.10 to 0.33). A head is a few layers of a plain decoder between a
// projection and the model's own embeddings; an EAGLE 1 head uses the model's output layer too, an
// EAGLE 3 head has a smaller one.
#include "lint/models/draft_model.h"

#include <utility>
#include <vector>

#include "lint/memory/draft.h"
#include "lint/models/config.h"

namespace kvbudget {

using memory::ModelShape;
using memory::Place;
using memory::Split;
using memory::Weight;
using models::Json;

namespace {

constexpr uint64_t kMaxVocabulary = 1u << 28;
constexpr uint64_t kMaxWidth = 1u << 24;

Weight last_stage(std::string name, uint64_t rows, uint64_t columns, const ModelShape& shape) {
  Weight weight;
  weight.name = std::move(name);
  weight.rows = rows;
  weight.columns = columns;
  weight.place = Place::kLastStage;
  weight.format.type = shape.dtype;
  return weight;
}

// get_rope keeps one table for equal arguments.
void add_rotary(const ModelShape& target, ModelShape& shape) {
  const bool same = shape.rotary_cache_positions == target.rotary_cache_positions &&
                    shape.rotary_dim == target.rotary_dim;
  if (same || shape.rotary_cache_positions == 0) return;
  shape.weights.push_back(
      last_stage("rotary", shape.rotary_cache_positions, shape.rotary_dim, shape));
}

// "Eagle3LlamaForCausalLM", "LlamaForCausalLMEagle3" and "LlamaForCausalLM" are one class.
std::string base_architecture(std::string name) {
  for (const std::string_view mark : {"Eagle3", "Peagle", "Eagle"}) {
    if (name.starts_with(mark)) return name.substr(mark.size());
    if (name.ends_with(mark)) return name.substr(0, name.size() - mark.size());
  }
  return name;
}

// The class that computes a head's layers; empty when it is not followed here.
std::string layer_class(const std::string& base, bool third) {
  constexpr std::string_view kLlama =
      "LlamaForCausalLM|Qwen2_5vlForCausalLM|Qwen3vlForCausalLM|MiniMaxM2ForCausalLM";
  if (third && models::listed(kLlama, base)) return "LlamaForCausalLM";
  const bool known = base == (third ? "Qwen3ForCausalLM" : "LlamaForCausalLM");
  return known ? base : std::string();
}

// A head's config as one of a plain decoder, which `third` tells EAGLE 3 from 1.
std::string plain_config(Json& config, bool third, std::string& error) {
  if (config.contains("transformer_layer_config")) {  // the speculators format
    Json layer = config["transformer_layer_config"];
    for (const char* key : {"draft_vocab_size", "target_hidden_size"}) {
      if (layer.is_object() && config.contains(key)) layer[key] = config[key];
    }
    const bool qwen = layer.is_object() && layer.value("model_type", Json()) == "qwen3";
    config = std::move(layer);
    if (config.is_object()) {
      config["architectures"] = {qwen ? "Qwen3ForCausalLM" : "LlamaForCausalLM"};
    }
  }
  std::string ignored;
  const models::Config reader(config, ignored);
  const std::vector<std::string> names =
      config.is_object() ? reader.texts("architectures") : std::vector<std::string>();
  const std::string name = names.empty() ? "" : names.front();
  const std::string known = layer_class(base_architecture(name), third);
  if (known.empty()) {
    error = "the draft architecture '" + name + "' is not followed";
    return "";
  }
  config["architectures"] = {known};
  config.erase("model_type");
  return config.dump();
}

void remove(std::string_view name, ModelShape& shape) {
  std::erase_if(shape.weights, [&](const Weight& weight) { return weight.name == name; });
}

// The first layer of EAGLE 3 reads embeddings beside hidden states: as many columns again.
void widen_first_layer(ModelShape& shape) {
  std::vector<Weight> more;
  for (const Weight& weight : shape.weights) {
    constexpr std::string_view kParts = "self_attn.q_proj|self_attn.k_proj|self_attn.v_proj";
    if (weight.first_layer != 0 || !models::listed(kParts, weight.name)) continue;
    more.push_back(weight);
    more.back().layer_count = 1;
  }
  shape.weights.insert(shape.weights.end(), more.begin(), more.end());
}

void make_eagle(ModelShape& shape) {
  const uint64_t hidden = shape.hidden_size;
  remove("norm", shape);
  shape.weights.push_back(last_stage("fc", hidden, 2 * hidden, shape));
  for (Weight& weight : shape.weights) {
    if (weight.name == "layernorm" && weight.first_layer == 0) --weight.separate_copies;
  }
}

void make_eagle3(const models::Config& config, const ModelShape& target, ModelShape& shape) {
  const uint64_t hidden = shape.hidden_size;
  const uint64_t of_target =
      config.count("target_hidden_size", kMaxWidth).value_or(target.hidden_size);
  constexpr uint64_t kAuxiliaryStates = 3;
  widen_first_layer(shape);
  for (Weight& weight : shape.weights) {
    if (weight.name == "layernorm") ++weight.separate_copies;
  }
  shape.weights.push_back(last_stage("fc", hidden, kAuxiliaryStates * of_target, shape));
  const uint64_t rows = config.count("draft_vocab_size", kMaxVocabulary).value_or(shape.vocab_size);
  Weight head = last_stage("lm_head", rows, hidden, shape);
  head.split = Split::kVocabulary;
  shape.weights.push_back(std::move(head));
  if (rows == target.vocab_size) return;
  Weight ids = last_stage("draft_id_to_target_id", rows, 1, shape);
  ids.format = {.type = memory::ElementType::kUInt8, .fixed_type = true, .bits = 64};
  shape.weights.push_back(std::move(ids));
}

DraftResult read_head(ModelFiles files, bool third, const ModelShape& target) {
  DraftResult result;
  models::ParsedJson parsed = models::parse_json_object(files.config);
  if (!parsed.error.empty()) {
    result.error = "config.json: " + parsed.error;
    return result;
  }
  files.config = plain_config(parsed.value, third, result.error);
  if (!result.error.empty()) return result;
  const ShapeResult read = read_shape(files);
  result.error = read.error;
  if (!read.shape) return result;
  ModelShape shape = *read.shape;
  // Embeddings are the model's where they are as wide; then only a stage apart from the first has
  // them again.
  const bool shares = shape.hidden_size == target.hidden_size;
  remove("lm_head", shape);
  std::erase_if(shape.weights, [](const Weight& w) { return w.place == Place::kLastStageCopy; });
  for (Weight& weight : shape.weights) {
    if (shares && weight.place == Place::kFirstStage) weight.place = Place::kLastStageCopy;
  }
  const models::Config config(parsed.value, result.error);
  if (third) {
    make_eagle3(config, target, shape);
  } else {
    make_eagle(shape);
  }
  add_rotary(target, shape);
  if (result.error.empty()) result.layers = memory::draft_layers(std::move(shape));
  return result;
}

}  // namespace

DraftResult read_draft(const ModelFiles& files, std::string_view method, const ModelShape& target) {
  if (method == "eagle" || method == "eagle3") return read_head(files, method == "eagle3", target);
  DraftResult result;
  const ShapeResult read = read_shape(files);
  result.error = read.error;
  if (!read.shape) return result;
  ModelShape shape = *read.shape;
  // On one stage tied embeddings are one tensor.
  std::erase_if(shape.weights, [](const Weight& w) { return w.place == Place::kLastStageCopy; });
  add_rotary(target, shape);
  result.layers = memory::draft_layers(std::move(shape));
  return result;
}

}  // namespace kvbudget
