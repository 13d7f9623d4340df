#include "lint/models/quantization.h"

#include "lint/memory/weights.h"
#include "lint/models/module_pattern.h"
#include "lint/models/online_quantization.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::Weight;

namespace {

std::string model_with(const std::string& quantization) {
  return R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 3, "hidden_size": 256,
    "num_attention_heads": 2, "intermediate_size": 512, "vocab_size": 640,
    "quantization_config": )" +
         quantization + "}";
}

const Weight* find(const memory::ModelShape& shape, const std::string& name, uint32_t layer = 0) {
  for (const Weight& weight : shape.weights) {
    if (weight.name == name && weight.first_layer <= layer &&
        layer < weight.first_layer + std::max(weight.layer_count, 1U)) {
      return &weight;
    }
  }
  return nullptr;
}

struct Case {
  const char* quantization;
  uint32_t bits;
  uint32_t group;
  uint32_t group_rows;
  uint32_t scale_bits;
  uint32_t zero_bits;
};

constexpr uint32_t kAll = UINT32_MAX;

const Case kCases[] = {
    {R"({"quant_method": "fp8"})", 8, kAll, kAll, 32, 0},
    {R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", 8, 128, 128, 32, 0},
    {R"({"quant_method": "fbgemm_fp8"})", 8, kAll, 1, 32, 0},
    {R"({"quant_method": "awq", "bits": 4, "group_size": 128})", 4, 128, 1, 16, 4},
    {R"({"quant_method": "gptq", "bits": 8, "group_size": -1})", 8, kAll, 1, 16, 8},
    {R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", 4, 64, 1, 32, 0},
    {R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", 8, kAll, 1, 32, 0},
    {R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", 4, 16, 1, 8, 0},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}})",
     8, kAll, 1, 32, 0},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}}})",
     8, kAll, 1, 32, 0},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128,
                    "symmetric": false}}}})",
     4, 128, 1, 16, 4},
    {R"({"bits": 4, "group_size": 64})", 4, 64, 1, 16, 16},
};

}  // namespace

TEST_CASE("each way of packing gives its bits, groups and scales") {
  for (const Case& c : kCases) {
    INFO(c.quantization);
    const ShapeResult result = test::shape_of(model_with(c.quantization));
    INFO(result.error);
    REQUIRE(result.shape != nullptr);
    const Weight* weight = find(*result.shape, "self_attn.o_proj");
    REQUIRE(weight != nullptr);
    CHECK(weight->format.bits == c.bits);
    CHECK(weight->format.group == c.group);
    CHECK(weight->format.group_rows == c.group_rows);
    CHECK(weight->format.scale_bits == c.scale_bits);
    CHECK(weight->format.zero_bits == c.zero_bits);
    CHECK(find(*result.shape, "embed_tokens")->format.bits == 16);
    CHECK(find(*result.shape, "lm_head")->format.bits == 16);
  }
}

TEST_CASE("modules that a checkpoint leaves out stay plain") {
  const ShapeResult result = test::shape_of(model_with(
      R"({"quant_method": "fp8", "modules_to_not_convert":
          ["lm_head", "model.layers.0", "re:.*layers\\.2\\.mlp\\.(gate|up)_proj$", "mlp.gate"]})"));
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  CHECK(find(*result.shape, "self_attn.q_proj", 0)->format.bits == 16);
  CHECK(find(*result.shape, "self_attn.q_proj", 1)->format.bits == 8);
  CHECK(find(*result.shape, "mlp.up_proj", 1)->format.bits == 8);
  CHECK(find(*result.shape, "mlp.up_proj", 2)->format.bits == 16);
  CHECK(find(*result.shape, "mlp.down_proj", 2)->format.bits == 8);
}

TEST_CASE("a way of packing that is not understood is named") {
  const ShapeResult result = test::shape_of(model_with(R"({"quant_method": "exl2"})"));
  CHECK(result.shape == nullptr);
  CHECK(result.error.find("quant_method 'exl2'") != std::string::npos);
}

TEST_CASE("a checkpoint can ask for an FP8 cache") {
  ModelFiles files;
  files.config = model_with("null");
  files.quant_config =
      R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8",
                           "exclude_modules": ["lm_head"]}})";
  const ShapeResult result = read_shape(files);
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  CHECK(result.shape->quantization == "modelopt");
  CHECK(result.shape->kv_cache_scheme == "fp8");
}

TEST_CASE("the KV cache of a ModelOpt checkpoint follows the engine's reading of its scheme") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("quant_method": "modelopt", "kv_cache_scheme": "FP8")", "fp8"},
      {R"("quant_method": "modelopt", "kv_cache_quant_algo": "NVFP4")", "nvfp4"},
      {R"("quant_method": "modelopt", "kv_cache_quant_algo": "INT8")", ""},
      {R"("kv_cache_scheme": "FP8")", ""},  // a config that does not name its method
      {R"("quant_method": "modelopt", "kv_cache_scheme":
          {"dynamic": false, "num_bits": 8, "type": "float"})",
       "fp8"},
      {R"("quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "float"})", ""},
  };
  for (const auto& [keys, scheme] : cases) {
    INFO(keys);
    const ShapeResult result =
        test::shape_of(model_with(std::string(R"({"quant_algo": "FP8", )") + keys + "}"));
    REQUIRE(result.shape != nullptr);
    CHECK(result.shape->kv_cache_scheme == scheme);
  }
}

TEST_CASE("a name that says more than the config is not taken for plain weights") {
  ModelFiles files;
  files.config = model_with("null");
  for (const char* id : {"org/Model-7B-NVFP4", "org/model_awq", "./Model-FP8"}) {
    files.id = id;
    CHECK(read_shape(files).error.find("the name says") != std::string::npos);
  }
  for (const char* id : {"org/Model-7B", "awq-lab/Model", "org/fp8ish"}) {
    files.id = id;
    CHECK(read_shape(files).error == "");
  }
}

TEST_CASE("quantising at load time converts linear layers and nothing else") {
  const ShapeResult result = test::shape_of(model_with("null"));
  REQUIRE(result.shape != nullptr);
  memory::ModelShape shape = *result.shape;
  CHECK(models::quantize_online(shape, "fp8"));
  CHECK(find(shape, "self_attn.q_proj")->format.bits == 8);
  CHECK(find(shape, "embed_tokens")->format.bits == 16);
  CHECK(find(shape, "lm_head")->format.bits == 16);
  CHECK_FALSE(models::quantize_online(shape, "gptq"));
}

TEST_CASE("module names match whole segments, globs and regular expressions") {
  const auto matches = [](const char* entry, const char* path) {
    models::ModulePatterns patterns;
    CHECK(patterns.add(entry));
    return patterns.matches(path);
  };
  CHECK(matches("model.layers.0.mlp.gate", "layers.0.mlp.gate"));
  CHECK(matches("model.layers.0", "layers.0.mlp.gate_proj"));
  CHECK(matches("lm_head", "lm_head"));
  CHECK_FALSE(matches("gate", "layers.0.mlp.gate_proj"));
  CHECK_FALSE(matches("model.layers.1", "layers.11.mlp.gate_proj"));
  CHECK(matches("model.language_model.layers.0.self_attn*", "layers.0.self_attn.q_proj"));
  CHECK(matches("*.mlp.shared_expert.*", "layers.0.mlp.shared_experts.up_proj"));
  CHECK(matches("language_model.model.layers.2.feed_forward.up_proj", "layers.2.mlp.up_proj"));
  CHECK(matches("backbone.layers.2.mixer.in_proj", "layers.2.mamba.in_proj"));
  CHECK(matches("re:.*layers\\.\\d\\.", "layers.7.mlp.up_proj"));
  CHECK_FALSE(matches("re:mtp.*", "layers.7.mtp.up_proj"));
  models::ModulePatterns patterns;
  CHECK_FALSE(patterns.add("re:("));
  CHECK_FALSE(patterns.add("re:a{9999}{9999}"));
  CHECK(patterns.empty());
}
