// config.json -> ModelShape. Each part of a model has its own file; this one knows their order.
#include <algorithm>

#include "lint/models/attention.h"
#include "lint/models/catalogue.h"
#include "lint/models/config.h"
#include "lint/models/encoder_profile.h"
#include "lint/models/family.h"
#include "lint/models/layers.h"
#include "lint/models/lora.h"
#include "lint/models/model_files.h"
#include "lint/models/mtp.h"
#include "lint/models/multimodal.h"
#include "lint/models/quantization.h"
#include "lint/models/rope.h"
#include "lint/models/safetensors_index.h"
#include "lint/models/weights.h"
#include "lint/read/text.h"

namespace kvbudget {

using memory::ElementType;
using memory::ModelShape;
using models::Config;
using models::Family;

namespace {

std::string first_architecture(const Config& root) {
  const std::vector<std::string> names = root.texts("architectures");
  return names.empty() ? std::string() : names.front();
}

// What --dtype auto takes; the engine computes float32 checkpoints in bfloat16.
ElementType auto_dtype(const Config& root, const Config& text) {
  std::string name = root.text("dtype|torch_dtype");
  if (name.empty()) name = text.text("dtype|torch_dtype");
  return name == "float16" || name == "torch.float16" || name == "half" ? ElementType::kFloat16
                                                                        : ElementType::kBFloat16;
}

// transformers writes 1e30 for "no limit".
std::optional<uint64_t> tokenizer_length(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const models::ParsedJson parsed = models::parse_json_object(text);
  if (!parsed.error.empty()) return std::nullopt;
  std::string ignored;
  return Config(parsed.value, ignored).count("model_max_length", uint64_t{1} << 40);
}

// The decoder of a model: the whole config, or the text part of a multimodal one.
models::TextPart find_decoder(const Config& root, ModelShape& shape) {
  if (auto part = models::find_text_part(root, shape.architecture)) {
    shape.multimodal = true;
    return *std::move(part);
  }
  const std::string& name = shape.architecture.empty() ? shape.model_type : shape.architecture;
  return {root, models::find_family(shape.architecture, shape.model_type), name};
}

void refuse_towers(const Config& root) {
  for (const char* key : {"vision_config", "audio_config", "vision_tower", "mm_vision_tower"}) {
    if (root.has(key)) {
      root.fail("key '" + std::string(key) + "' is not understood for this architecture");
    }
  }
}

// Some checkpoints say only in their name, or in a file that is not here, that they are packed;
// counting them as plain would make four times their size.
void refuse_packed_name(const Config& root, const std::string& id, const ModelShape& shape) {
  constexpr std::string_view kPackings =
      "nvfp4|fp4|mxfp4|awq|gptq|fp8|int4|int8|w4a16|w8a8|2bit|3bit|4bit|5bit|6bit|8bit|bnb|gguf|"
      "exl2";
  if (!shape.quantization.empty()) return;
  std::string name = lower(id.substr(id.find_last_of('/') + 1));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  models::any_part(name, '-', [&](std::string_view part) {
    if (!models::listed(kPackings, part)) return false;
    root.fail("the name says " + std::string(part) +
              ", but there is no quantization_config and no hf_quant_config.json");
    return true;
  });
}

void fill(const Config& root, const models::TextPart& decoder, const ModelFiles& files,
          ModelShape& shape) {
  const Family& family = *decoder.family;
  Config config = decoder.config;
  config.add_defaults(family.defaults);
  if (shape.multimodal) {
    config.add_defaults(family.nested_defaults);
  } else {
    refuse_towers(root);
  }
  models::refuse_unknown_attention(config, family);
  models::read_dimensions(config, family, shape);
  if (config.failed()) return;
  shape.dtype = auto_dtype(root, config);
  shape.tied_embeddings = config.flag("tie_word_embeddings|tie_embedding",
                                      root.flag("tie_word_embeddings", family.tied));
  const std::vector<models::LayerPlan> plan = models::plan_layers(config, family, shape);
  models::add_caches(config, family, plan, shape);
  models::read_positions(config, family, shape);
  const models::Quantization quantization =
      models::read_quantization(root, config, files.quant_config);
  shape.quantization = quantization.method;
  shape.kv_cache_scheme = quantization.kv_cache_scheme;
  refuse_packed_name(root, files.id, shape);
  if (config.failed()) return;
  models::WeightList list(shape, quantization);
  models::add_weights(config, family, plan, list, shape);
  shape.lora = models::lora_modules(family);
  models::read_mtp(root, config, family, plan, quantization, shape);
  if (shape.multimodal) {
    models::add_towers(root, shape, list);
    shape.encoder = models::read_encoder_profile(root);
  }
  shape.checkpoint_bytes = models::checkpoint_bytes(files.safetensors_index);
  shape.context.tokenizer_max_length = tokenizer_length(files.tokenizer_config);
}

}  // namespace

ShapeResult read_shape(const ModelFiles& files) {
  ShapeResult result;
  const models::ParsedJson parsed = models::parse_json_object(files.config);
  if (!parsed.error.empty()) {
    result.error = "config.json: " + parsed.error;
    return result;
  }
  const Config root(parsed.value, result.error);
  auto shape = std::make_shared<ModelShape>();
  shape->id = files.id;
  shape->architecture = first_architecture(root);
  shape->model_type = root.text("model_type");
  const models::TextPart decoder = find_decoder(root, *shape);
  if (decoder.family == nullptr) {
    root.fail(decoder.name.empty() ? "config.json has neither 'architectures' nor 'model_type'"
                                   : "unknown architecture " + decoder.name);
    return result;
  }
  fill(root, decoder, files, *shape);
  if (result.error.empty()) {
    result.shape = std::move(shape);
  } else {
    result.error = (shape->architecture.empty() ? shape->model_type : shape->architecture) + ": " +
                   result.error;
  }
  return result;
}

}  // namespace kvbudget
