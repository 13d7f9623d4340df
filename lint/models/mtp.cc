// The classes named in hf_config_override of vllm/config/speculative.py (0.10 to 0.33) and their
// files in vllm/model_executor/models and vllm/models. Two forms: DeepSeek's, each layer with its
// own norms, projection and final norm, and Qwen's, one projection and norms before all layers.
// Embeddings and head are the model's own.
#include "lint/models/mtp.h"

#include <algorithm>
#include <array>

#include "lint/memory/draft.h"
#include "lint/models/moe.h"

namespace kvbudget::models {

using memory::CacheKind;
using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

/// kSplit: DeepSeek-V4 projects its two inputs apart and mixes its streams before the head.
enum class Form : uint8_t { kEachLayer, kSplit, kOnce };

enum class Inside : uint8_t {
  kFull,     ///< full attention, and experts where a layer of that index would have them
  kDense,    ///< full attention and an MLP
  kFirst,    ///< as the model's first layers
  kPattern,  ///< Nemotron-H: its own list of attention and experts
};

struct MtpClass {
  std::string_view architecture;  ///< of the family that has it
  std::string_view count;         ///< key with the number of layers
  uint32_t otherwise = 0;         ///< layers when there is no key
  uint32_t norms = 3;  ///< of the projection's two inputs, and at the end where it is own
  Form form = Form::kEachLayer;
  bool own_head = false;  ///< a copy of the head in each layer
  Inside inside = Inside::kFull;
};

constexpr std::array kClasses = {
    MtpClass{"DeepseekV3ForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kEachLayer, true},
    MtpClass{"DeepseekV32ForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kEachLayer, true},
    MtpClass{"DeepseekV4ForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kSplit},
    MtpClass{"Glm4MoeForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kEachLayer, true},
    MtpClass{"Ernie4_5_MoeForCausalLM", "num_nextn_predict_layers", 0, 2, Form::kEachLayer, false,
             Inside::kDense},
    MtpClass{"MiMoForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kEachLayer, false,
             Inside::kDense},
    MtpClass{"Qwen3NextForCausalLM", "num_nextn_predict_layers", 1, 3, Form::kOnce},
    MtpClass{"Qwen3_5ForCausalLM", "mtp_num_hidden_layers", 0, 3, Form::kOnce},
    MtpClass{"Qwen3_5MoeForCausalLM", "mtp_num_hidden_layers", 0, 3, Form::kOnce},
    MtpClass{"Exaone4ForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kOnce, false,
             Inside::kFirst},
    MtpClass{"NemotronHForCausalLM", "num_nextn_predict_layers", 0, 3, Form::kOnce, false,
             Inside::kPattern},
};

constexpr uint64_t kMaxLayers = 64;

const MtpClass* find_class(const Family& family) {
  const auto* found = std::find_if(kClasses.begin(), kClasses.end(), [&](const MtpClass& one) {
    return listed(family.architectures, one.architecture);
  });
  return found == kClasses.end() ? nullptr : found;
}

LayerPlan attention_layer(const Config& config, const Family& family, uint32_t index,
                          const ModelShape& shape) {
  LayerPlan layer = base_plan(config, family, index, shape);
  layer.attention = true;
  layer.state = false;
  return layer;
}

// "*E", or the same by name (Nemotron 3.5).
std::vector<LayerPlan> pattern_layers(const Config& config, const Family& family,
                                      const ModelShape& shape) {
  std::string symbols = config.text("mtp_hybrid_override_pattern");
  for (const std::string& name : config.texts("mtp_layers_block_type")) {
    symbols += name == "attention" ? '*' : name == "moe" ? 'E' : '?';
  }
  std::vector<LayerPlan> plan;
  for (const char symbol : symbols) {
    LayerPlan layer = attention_layer(config, family, 0, shape);
    layer.attention = symbol == '*';
    layer.feed = symbol == 'E' ? Feed::kExperts : Feed::kNone;
    if (symbol != '*' && symbol != 'E') return {};
    plan.push_back(layer);
  }
  return plan;
}

// The index decides what a layer is: behind the model's in DeepSeek's form, from 0 in Qwen's.
uint32_t index_of(const MtpClass& mtp, const ModelShape& shape, uint32_t i) {
  return mtp.form == Form::kOnce ? i : shape.num_layers + i;
}

std::vector<LayerPlan> plan_of(const MtpClass& mtp, uint64_t count, const Config& config,
                               const Family& family, const std::vector<LayerPlan>& model,
                               const ModelShape& shape) {
  if (mtp.inside == Inside::kPattern) return pattern_layers(config, family, shape);
  std::vector<LayerPlan> plan;
  for (uint32_t i = 0; i < count; ++i) {
    plan.push_back(attention_layer(config, family, index_of(mtp, shape, i), shape));
    if (mtp.inside == Inside::kFirst && i < model.size()) plan[i] = model[i];
    const bool experts = mtp.inside == Inside::kFull && family.moe != nullptr;
    if (experts && is_moe_layer(config, index_of(mtp, shape, i))) plan[i].feed = Feed::kExperts;
  }
  return plan;
}

// ModelOpt's 4-bit checkpoints keep Qwen's projection plain without saying so.
bool keeps_projection(const Quantization& quantization) {
  return quantization.method.starts_with("modelopt") && !quantization.groups.empty() &&
         quantization.groups.front().format.bits == 4;
}

// DeepSeek-V4 projects its two inputs apart, and mixes its streams before the head.
void add_split_projection(const Config& config, uint32_t index, uint64_t hidden, WeightList& list) {
  const std::string layer = "layers." + std::to_string(index);
  list.set_layer(index, "");
  list.linear(layer, {{"e_proj", hidden, Split::kNone}}, hidden, false);
  list.linear(layer, {{"h_proj", hidden, Split::kNone}}, hidden, false);
  const uint64_t streams = config.required("hc_mult", 64);
  list.float_matrix("hc_head_fn", streams, streams * hidden);
}

void add_projection(const MtpClass& mtp, const Config& config, uint32_t index,
                    const Quantization& quantization, uint64_t hidden, WeightList& list) {
  list.set_layer(index, "");
  if (mtp.form == Form::kSplit) {
    add_split_projection(config, index, hidden, list);
  } else if (mtp.form == Form::kEachLayer) {
    list.router("eh_proj", hidden, 2 * hidden);
  } else if (keeps_projection(quantization)) {
    list.derived("mtp.fc", hidden, 2 * hidden);
  } else {
    list.linear("mtp", {{"fc", hidden}}, 2 * hidden, false);
  }
  list.vectors("mtp.norm", hidden, mtp.norms);
}

memory::Weight head_copy(const ModelShape& shape) {
  memory::Weight head;
  head.name = "shared_head.head";
  head.rows = shape.vocab_size;
  head.columns = shape.hidden_size;
  head.split = Split::kVocabulary;
  head.place = Place::kLastStage;
  head.format.type = shape.dtype;
  return head;
}

}  // namespace

void read_mtp(const Config& root, const Config& decoder, const Family& family,
              const std::vector<LayerPlan>& model, const Quantization& quantization,
              ModelShape& shape) {
  const MtpClass* mtp = find_class(family);
  if (mtp == nullptr || decoder.failed()) return;
  std::string error;
  const Config config = decoder.apart(error);
  const uint64_t stated = root.apart(error).count(mtp->count, kMaxLayers).value_or(mtp->otherwise);
  const uint64_t count = config.count(mtp->count, kMaxLayers).value_or(stated);
  if (count == 0) return;
  const std::vector<LayerPlan> plan = plan_of(*mtp, count, config, family, model, shape);
  ModelShape part = shape;
  part.weights.clear();
  part.caches.clear();
  WeightList list(part, quantization);
  list.outer("embed_tokens", shape.vocab_size, shape.hidden_size, Split::kVocabulary,
             Place::kLastStageCopy);
  const bool once = mtp->form == Form::kOnce;
  for (uint32_t i = 0; i < plan.size(); ++i) {
    const uint32_t index = index_of(*mtp, shape, i);
    if (!once || i == 0) {
      add_projection(*mtp, config, index, quantization, shape.hidden_size, list);
    }
    list.set_layer(index, (once ? "mtp.layers." : "layers.") + std::to_string(index) + ".");
    add_decoder_layer(config, family, plan[i], index, list, part);
    add_layer_caches(config, family, plan[i], index, part);
  }
  if (plan.empty() || !error.empty()) return;
  shape.mtp = memory::draft_layers(std::move(part));
  shape.mtp->steps = static_cast<uint32_t>(count);
  if (mtp->own_head) shape.mtp->heads.assign(count, head_copy(shape));
}

}  // namespace kvbudget::models
