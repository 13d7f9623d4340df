#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lint/memory/weights.h"
#include "lint/models/encoder_inputs.h"
#include "lint/models/encoder_profile.h"
#include "lint/models/sizes.h"
#include "lint/models/wrapper.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::read;

namespace {

// Numbers in the encoders and projectors.
uint64_t encoder_numbers(const memory::ModelShape& shape) {
  uint64_t total = 0;
  for (const memory::Weight& weight : shape.weights) {
    if (weight.place != memory::Place::kEveryStage) continue;
    total += weight.rows * weight.columns * weight.separate_copies;
  }
  return total;
}

uint64_t numbers(const memory::ModelShape& shape) {
  uint64_t total = 0;
  for (const memory::Weight& weight : shape.weights) {
    const bool in_layers = weight.place == memory::Place::kLayers;
    if (weight.place == memory::Place::kLastStageCopy) continue;
    total += weight.rows * weight.columns * weight.copies * weight.separate_copies *
             (in_layers ? weight.layer_count : 1);
  }
  return total;
}

// A decoder of width 64 in `key` ("" for the root) of a model.
std::string model(const std::string& architecture, const std::string& key,
                  const std::string& rest) {
  const std::string text =
      R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
         "max_position_embeddings": 512)";
  const std::string decoder = key.empty() ? text : "\"" + key + "\": {" + text + "}";
  return R"({"architectures": [")" + architecture + R"("], )" + decoder + ", " + rest + "}";
}

// Their classes do not mark the tower, or the engine reads another name.
constexpr std::string_view kNeverLeftOut =
    "Idefics3ForConditionalGeneration|SmolVLMForConditionalGeneration|ChatGLMModel|"
    "ChatGLMForConditionalGeneration|ChatGLMForCausalLM|GLM4VForCausalLM|"
    "QwenVLForConditionalGeneration|HunYuanVLForConditionalGeneration|NemotronH_Nano_VL|"
    "KimiK3ForConditionalGeneration|deepseek_vl_v2|"
    "BartModel|BartForConditionalGeneration|MBartForConditionalGeneration|"
    "MllamaForConditionalGeneration";

const std::string kTower = R"({"model_type": "clip_vision_model", "hidden_size": 32,
  "intermediate_size": 48, "num_hidden_layers": 5, "patch_size": 7, "image_size": 28})";

// Attention, MLP, norms and biases of `layers` such layers.
constexpr uint64_t plain_layers(uint64_t layers, uint64_t width, uint64_t inner) {
  return layers * (4 * width * width + 2 * width * inner + 9 * width + inner);
}

}  // namespace

namespace {

// Gives every name that the definitions define some number.
void define(std::string_view definitions, models::Sizes& sizes) {
  models::any_part(definitions, ' ', [&](std::string_view definition) {
    sizes.set(definition.front(), 2.0);
    return false;
  });
}

void check_tensors(std::string_view tensors, const models::Sizes& sizes) {
  models::any_part(tensors, ';', [&](std::string_view tensor) {
    size_t words = 0;
    models::any_part(tensor, ' ', [&](std::string_view word) {
      if (word.empty()) return false;
      INFO(tensor << " at " << word);
      ++words;
      if (words == 2) CHECK(std::string_view("RCN").find(word.front()) != std::string_view::npos);
      if (words == 2 && word.size() > 1) CHECK(sizes.evaluate(word.substr(2)).has_value());
      if (words > 2) CHECK(sizes.evaluate(word).has_value());
      return false;
    });
    CHECK(words == 5);
    return false;
  });
}

}  // namespace

TEST_CASE("every tensor of every encoder uses only sizes that are defined") {
  models::Sizes any;
  any.set('o', 2.0);
  for (const auto table : models::tower_tables()) {
    for (const models::Tower& tower : table) {
      INFO(tower.names);
      models::Sizes sizes = any;
      define(tower.sizes, sizes);
      check_tensors(tower.blocks, sizes);
      check_tensors(tower.rest, sizes);
      check_tensors(tower.more, sizes);
    }
  }
}

TEST_CASE("every wrapper's projector uses only sizes that are defined") {
  models::Sizes of_all_towers;
  of_all_towers.set('o', 2.0);
  for (const auto table : models::tower_tables()) {
    for (const models::Tower& tower : table) define(tower.sizes, of_all_towers);
  }
  std::vector<models::Wrapper> wrappers;
  for (const auto table : models::wrapper_tables()) {
    wrappers.insert(wrappers.end(), table.begin(), table.end());
  }
  for (const models::Wrapper& wrapper : wrappers) {
    for (const models::TowerUse& use : {wrapper.vision, wrapper.audio}) {
      INFO(wrapper.architectures);
      const models::Tower* tower = models::find_tower(use.tower);
      CHECK((tower != nullptr || use.tower.empty()));
      models::Sizes sizes = of_all_towers;
      if (tower != nullptr) {
        sizes = {};
        sizes.set('o', 2.0);
        define(tower->sizes, sizes);
      }
      define(use.sizes, sizes);
      check_tensors(use.projector, sizes);
    }
  }
}

TEST_CASE("an encoder stops at the layer whose output the decoder takes") {
  const auto with_layer = [](const std::string& layer) {
    return encoder_numbers(
        read(model("LlavaForConditionalGeneration", "text_config",
                   "\"vision_feature_layer\": " + layer + ", \"vision_config\": " + kTower)));
  };
  const uint64_t layer = plain_layers(1, 32, 48);
  CHECK(with_layer("-1") - with_layer("-2") == layer);
  CHECK(with_layer("5") == with_layer("-1"));
  CHECK(with_layer("3") == with_layer("-3"));
  // The outputs of two layers side by side make the projector's input twice as wide.
  CHECK(with_layer("[-4, -2]") - with_layer("-2") == 32 * 64);
}

// Sizes as the checkpoints state them, other keys left out, and half the bytes of their indices.
TEST_CASE("multimodal models have as many parameters as the indices of their checkpoints") {
  std::ifstream lines(KVB_SOURCE_DIR "/fixtures/encoders/published.jsonl");
  size_t models = 0;
  for (std::string line; std::getline(lines, line); ++models) {
    const nlohmann::json published = nlohmann::json::parse(line);
    INFO(published["id"]);
    const auto found = static_cast<double>(numbers(read(published["config"].dump()))) / 1e9;
    CHECK(found == Approx(published["billions"].get<double>()).epsilon(0.003));
  }
  CHECK(models == 2);
}

TEST_CASE("encoder and projector add up to what their classes allocate") {
  const uint64_t patches = 32 * 3 * 49 + (16 + 1) * 32 + 32 + 4 * 32;
  const uint64_t llava = 64 * 33 + 64 * 65 + 64;
  CHECK(encoder_numbers(read(model("LlavaForConditionalGeneration", "text_config",
                                   "\"vision_config\": " + kTower))) ==
        plain_layers(4, 32, 48) + patches + llava);
}

TEST_CASE("heads of an encoder that ranks do not divide are whole on each of them") {
  const auto rank = [](const std::string& heads, uint32_t ranks) {
    const memory::ModelShape shape = read(model(
        "InternVLChatModel", "llm_config",
        R"("vision_config": {"model_type": "intern_vit_6b", "hidden_size": 60, "patch_size": 14,
          "intermediate_size": 128, "num_hidden_layers": 40, "image_size": 28,
          "num_attention_heads": )" +
            heads + "}"));
    memory::EngineSettings settings;
    settings.tensor_parallel = ranks;
    return memory::rank_weight_bytes(shape, settings, 0);
  };
  CHECK(rank("4", 1) == rank("5", 1));
  CHECK(rank("4", 2) < rank("5", 2));
}

TEST_CASE("encoders that take nothing are left out, and whole ones are on every rank") {
  const memory::ModelShape shape =
      read(model("Qwen2_5_VLForConditionalGeneration", "text_config",
                 R"("vision_config": {"model_type": "qwen2_5_vl", "hidden_size": 64, "depth": 2,
               "intermediate_size": 128, "num_heads": 4})"));
  CHECK(shape.vision_inputs == "image,video");
  memory::EngineSettings settings;
  settings.tensor_parallel = 2;
  const auto bytes = [&] { return memory::rank_weight_bytes(shape, settings, 0); };
  const uint64_t divided = bytes();
  settings.whole_encoders = true;
  const uint64_t whole = bytes();
  settings.vision_encoder = false;
  CHECK(bytes() < divided);
  CHECK(divided < whole);
}

TEST_CASE("every wrapper says when its encoder is left out, or that it never is") {
  for (const auto table : models::wrapper_tables()) {
    for (const models::Wrapper& wrapper : table) {
      models::any_part(wrapper.architectures, '|', [&](std::string_view name) {
        INFO(name);
        const bool never = models::listed(kNeverLeftOut, name);
        const bool sees = !models::vision_inputs(name).empty();
        CHECK((sees || !models::audio_inputs(name).empty()) != never);
        return false;
      });
    }
  }
}

TEST_CASE("generations of MiniCPM-V are told apart by their number") {
  const std::string rest = R"("query_num": 64, "vision_config": {"hidden_size": 32,
    "intermediate_size": 48, "num_hidden_layers": 2, "patch_size": 7, "image_size": 28})";
  const auto has = [&](const std::string& version, const char* name) {
    const memory::ModelShape shape = read(
        model("MiniCPMV", "", (version.empty() ? "" : "\"version\": " + version + ", ") + rest));
    return std::any_of(shape.weights.begin(), shape.weights.end(),
                       [&](const memory::Weight& weight) { return weight.name == name; });
  };
  CHECK(has("2.6", "self_attn.q_proj.bias"));       // Qwen2
  CHECK(has("4.5", "self_attn.qk_norm"));           // Qwen3
  for (const char* version : {"", "2.5", "4.0"}) {  // Llama
    CHECK_FALSE(has(version, "self_attn.q_proj.bias"));
    CHECK_FALSE(has(version, "self_attn.qk_norm"));
  }
  const ShapeResult later = test::shape_of(model("MiniCPMV", "", "\"version\": 9.9, " + rest));
  CHECK(later.error == "unknown architecture MiniCPMV");
}

TEST_CASE("an encoder that is not in the tables is refused by name") {
  const ShapeResult result = test::shape_of(model("LlavaForConditionalGeneration", "text_config",
                                                  R"("vision_config": {"model_type": "foo_vit"})"));
  CHECK(result.error ==
        "LlavaForConditionalGeneration: key 'vision_config': the encoder 'foo_vit' is not "
        "understood");
}

TEST_CASE("a config of text keeps its decoder when only its sibling sees images") {
  const std::string glm = R"("model_type": "chatglm", "multi_query_group_num": 2,
    "ffn_hidden_size": 128)";
  CHECK_FALSE(read(model("ChatGLMModel", "", glm)).multimodal);
  const memory::ModelShape vision = read(model(
      "ChatGLMModel", "",
      glm +
          R"(, "vision_config": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
           "patch_size": 7, "image_size": 28, "num_positions": 17})"));
  CHECK(vision.multimodal);
  CHECK(vision.caches.size() == 2);
}

TEST_CASE("experts of images stand beside those of text") {
  const auto count = [](const std::string& experts) {
    return numbers(read(model("Ernie4_5_VLMoeForConditionalGeneration", "",
                              R"("moe_num_experts": [4, 4], "moe_k": 2, "moe_num_shared_experts": 1,
        "moe_layer_start_index": [1, 1], "moe_layer_end_index": [5, 5], "moe_intermediate_size": )" +
                                  experts + R"(, "vision_config": {"hidden_size": 32,
        "num_heads": 2, "depth": 2, "mlp_ratio": 4})")));
  };
  CHECK(count("[48, 16]") - count("[48, 8]") == 4 * 3 * 8 * 64);
  CHECK(count("[48, 16]") - count("[40, 16]") == (4 + 1) * 3 * 8 * 64);
}

TEST_CASE("what the profile run feeds a tower follows from its family and its sizes") {
  const auto encoder = [](const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text);
    std::string error;
    return models::read_encoder_profile(models::Config(json, error));
  };
  const std::string vision = R"("vision_config": {"hidden_size": 1152, "patch_size": 14,
      "intermediate_size": 4304, "num_attention_heads": 16}})";
  const memory::EncoderProfile qwen = encoder(R"({"model_type": "qwen2_5_vl", )" + vision);
  CHECK(qwen.item_tokens == 16'384);
  CHECK(qwen.item_pixels == 12'845'056);
  CHECK(qwen.videos_fill_context);
  // Qwen3-VL takes two frames of a video whatever the context.
  const memory::EncoderProfile deep = encoder(R"({"model_type": "qwen3_vl", )" + vision);
  CHECK_FALSE(deep.videos_fill_context);
  CHECK(deep.output_widths == 4);
  CHECK(encoder(R"({"model_type": "qwen3_5", )" + vision).output_widths == 1);
  const memory::EncoderProfile kimi = encoder(R"({"model_type": "kimi_vl", )" + vision);
  CHECK(kimi.item_tokens == 1024);
  CHECK(kimi.item_pixels == 0);
  CHECK(kimi.kept_bytes == uint64_t{512} * 512 * 36 * 8);
}
