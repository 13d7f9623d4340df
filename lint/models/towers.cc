// Vision towers, by the model_type of vision_config: transformer blocks (attention of four square
// matrices, an MLP of two or three), a patch embedding, learned positions, and a projector into the
// decoder's width. Facts: the vision classes in vllm/model_executor/models (0.8 to 0.33), which
// divide blocks over tensor-parallel ranks and repeat them on every pipeline stage.
#include <algorithm>
#include <array>

#include "lint/models/multimodal.h"

namespace kvbudget::models {

using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

enum class Projector : uint8_t {
  kLinear,   ///< one matrix
  kTwo,      ///< into the decoder's width, and a square one there
  kMerger,   ///< neighbouring patches side by side: a square matrix, then into the decoder's width
  kGlm,      ///< a convolution over neighbours, then a gated MLP
  kLlama4,   ///< two matrices of the adapter, then one into the decoder's width
  kPixtral,  ///< neighbours merged into one (spatial_merge_size), then kTwo
};

struct Tower {
  std::string_view model_types;
  Projector projector = Projector::kTwo;
  bool gated = false;
  bool biases = true;
  uint32_t merge = 1;              ///< patches side by side, when the config does not say
  std::string_view defaults = {};  ///< of the class in transformers
};

constexpr std::array kTowers = {
    Tower{.model_types = "siglip_vision_model|siglip2_vision_model",
          .defaults = "hidden_size=768,intermediate_size=3072,num_hidden_layers=12"},
    Tower{.model_types = "idefics3|idefics3_vision|smolvlm_vision",
          .projector = Projector::kLinear,
          .merge = 4,
          .defaults = "hidden_size=1152,intermediate_size=3072,num_hidden_layers=12"},
    Tower{.model_types = "clip_vision_model",
          .defaults = "hidden_size=768,intermediate_size=3072,num_hidden_layers=12"},
    Tower{.model_types = "pixtral",
          .projector = Projector::kPixtral,
          .gated = true,
          .biases = false,
          .defaults = "hidden_size=1024,intermediate_size=4096,num_hidden_layers=24"},
    Tower{.model_types = "qwen2_vl|qwen2_vl_vision",
          .projector = Projector::kMerger,
          .merge = 2,
          .defaults = "depth=32,embed_dim=1280,mlp_ratio=4,temporal_patch_size=2"},
    Tower{.model_types = "qwen2_5_vl|qwen2_5_vl_vision|exaone4_5_vision",
          .projector = Projector::kMerger,
          .gated = true,
          .merge = 2,
          .defaults = "depth=32,hidden_size=3584,intermediate_size=3420,temporal_patch_size=2"},
    Tower{.model_types = "qwen3_vl|qwen3_vl_moe|qwen3_vl_vision|qwen3_vl_moe_vision|qwen3_5|"
                         "qwen3_5_moe|qwen3_5_vision|qwen3_5_moe_vision",
          .projector = Projector::kMerger,
          .merge = 2,
          .defaults = "depth=27,hidden_size=1152,intermediate_size=4304,temporal_patch_size=2"},
    Tower{.model_types = "internvl_vision", .projector = Projector::kTwo, .merge = 2},
    Tower{.model_types = "moonvit|kimi_k25", .projector = Projector::kMerger, .merge = 2},
    Tower{.model_types = "kimi_k3", .projector = Projector::kMerger, .biases = false, .merge = 2},
    Tower{.model_types = "glm4v|glm4v_moe|glm4v_vision|glm4v_moe_vision",
          .projector = Projector::kGlm,
          .gated = true,
          .biases = false,
          .merge = 2},
    Tower{.model_types = "llama4_vision_model", .projector = Projector::kLlama4},
    Tower{.model_types = "gemma4_vision",
          .projector = Projector::kLinear,
          .gated = true,
          .biases = false},
};

constexpr uint64_t kMaxWidth = 1u << 20;

const Tower* find_tower(std::string_view model_type) {
  for (const Tower& tower : kTowers) {
    if (listed(tower.model_types, model_type)) return &tower;
  }
  return nullptr;
}

// A number, or a pair of equal ones ([14, 14]).
uint64_t side(const Config& vision, std::string_view key, uint64_t otherwise) {
  const Json* value = vision.find(key);
  if (value != nullptr && value->is_array() && !value->empty() &&
      (*value)[0].is_number_unsigned()) {
    return std::min<uint64_t>((*value)[0].get<uint64_t>(), kMaxWidth);
  }
  return vision.count(key, kMaxWidth).value_or(otherwise);
}

struct Widths {
  uint64_t hidden, attention, inner, layers, patch, merge, out;
};

// LLaVA stops at a layer before the last: -2 leaves the last one out.
uint64_t layers_in_use(const Config& root, uint64_t layers) {
  const Json* layer = root.find("vision_feature_layer");
  if (layer == nullptr || !layer->is_number_integer()) return layers;
  const auto index = layer->get<int64_t>();
  if (index >= 0) return std::min<uint64_t>(layers, static_cast<uint64_t>(index));
  const auto dropped = static_cast<uint64_t>(-(index + 1));
  return dropped < layers ? layers - dropped : layers;
}

Widths widths_of(const Config& root, const Config& vision, const Tower& tower,
                 const ModelShape& shape) {
  Widths widths{};
  widths.hidden = vision.required("embed_dim|vt_hidden_size|hidden_size", kMaxWidth);
  widths.attention = vision.count("qkv_hidden_size", kMaxWidth).value_or(widths.hidden);
  widths.layers =
      vision.required("depth|vt_num_hidden_layers|num_hidden_layers|encoder_layers", 1024);
  widths.layers = layers_in_use(root, widths.layers);
  const uint64_t ratio = vision.count("mlp_ratio", 64).value_or(0);
  widths.inner = ratio > 0 ? ratio * widths.hidden
                           : vision.required("vt_intermediate_size|intermediate_size", kMaxWidth);
  widths.patch = side(vision, "patch_size", 14);
  const uint64_t stated = vision.count("spatial_merge_size", 64).value_or(tower.merge);
  widths.merge = root.count("spatial_merge_size|scale_factor", 64).value_or(stated);
  widths.out = shape.hidden_size;
  return widths;
}

void add_blocks(const Tower& tower, const Widths& w, WeightList& list) {
  const uint64_t n = w.layers;
  const uint64_t bias = tower.biases ? 1 : 0;
  const auto add = [&](const char* name, uint64_t rows, uint64_t columns, Split split) {
    list.outer(name, rows, columns, split, Place::kEveryStage, false, n);
  };
  add("vision.attn.qkv", 3 * w.attention, w.hidden + bias, Split::kRows);
  add("vision.attn.proj", w.hidden, w.attention, Split::kColumns);
  add("vision.mlp.up", (tower.gated ? 2 : 1) * w.inner, w.hidden + bias, Split::kRows);
  add("vision.mlp.down", w.hidden, w.inner, Split::kColumns);
  add("vision.norms", (2 + 2 * bias) * 2 * w.hidden, 1, Split::kNone);
}

void add_embeddings(const Config& vision, const Widths& w, WeightList& list) {
  const uint64_t frames = vision.count("temporal_patch_size", 64).value_or(1);
  list.outer("vision.patch_embed", w.hidden, 3 * frames * w.patch * w.patch + 1, Split::kNone,
             Place::kEveryStage);
  uint64_t positions =
      vision.count("num_position_embeddings|position_embedding_size", 1u << 20).value_or(0);
  const uint64_t image = side(vision, "image_size", 0);
  if (positions == 0 && w.patch > 0) positions = (image / w.patch) * (image / w.patch);
  if (positions > 0) {
    list.outer("vision.pos_embed", positions, w.hidden, Split::kNone, Place::kEveryStage);
  }
}

void add_projector(const Config& vision, const Tower& tower, const Widths& w, WeightList& list) {
  const auto add = [&](const char* name, uint64_t rows, uint64_t columns, uint64_t copies = 1) {
    list.outer(name, rows, columns, Split::kNone, Place::kEveryStage, false, copies);
  };
  const uint64_t merged = w.hidden * w.merge * w.merge;
  switch (tower.projector) {
    case Projector::kLinear:
      return add("projector", w.out, merged);
    case Projector::kPixtral:
      if (w.merge > 1) add("projector.merge", w.hidden, merged);
      add("projector.linear_1", w.out, w.hidden);
      return add("projector.linear_2", w.out, w.out);
    case Projector::kTwo:
      add("projector.linear_1", w.out, merged);
      return add("projector.linear_2", w.out, w.out);
    case Projector::kMerger: {
      const Json* deep = vision.find("deepstack_visual_indexes");
      const uint64_t mergers = 1 + (deep != nullptr && deep->is_array() ? deep->size() : 0);
      add("merger.fc1", merged, merged + 1, mergers);
      return add("merger.fc2", w.out, merged + 1, mergers);
    }
    case Projector::kGlm:
      add("merger.downsample", w.out, merged);
      add("merger.proj", w.out, w.out);
      return add("merger.mlp", 3 * w.inner, w.out);
    case Projector::kLlama4: {
      const uint64_t wide = vision.required("projector_input_dim", kMaxWidth);
      add("adapter.fc1", wide, w.inner);
      add("adapter.fc2", wide, wide);
      return add("projector", w.out, wide);
    }
  }
}

// A conformer (Gemma 4): two MLPs, attention with relative positions and a convolution make about
// 24 square matrices a layer.
void add_audio(const Config& root, WeightList& list) {
  const auto audio = root.nested("audio_config");
  if (!audio) return;
  const uint64_t width = audio->required("hidden_size", kMaxWidth);
  const uint64_t layers = audio->required("num_hidden_layers", 1024);
  list.outer("audio.layers", 24 * width, width, Split::kNone, Place::kEveryStage, false, layers);
}

}  // namespace

void add_tower(const Config& root, const ModelShape& shape, WeightList& list) {
  auto vision = root.nested("vision_config");
  if (!vision) return root.fail("key 'vision_config' is missing");
  // Older configs do not repeat what the root says.
  std::string type = vision->text("model_type");
  if (type.empty()) type = root.text("model_type");
  const Tower* tower = find_tower(type);
  if (tower == nullptr) {
    return root.fail("key 'vision_config': the tower '" + type + "' is not understood");
  }
  vision->add_defaults(tower->defaults);
  const Widths widths = widths_of(root, *vision, *tower, shape);
  add_blocks(*tower, widths, list);
  add_embeddings(*vision, widths, list);
  add_projector(*vision, *tower, widths, list);
  add_audio(root, list);
}

}  // namespace kvbudget::models
