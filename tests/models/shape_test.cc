#include <algorithm>

#include "lint/memory/weights.h"
#include "lint/models/config.h"
#include "lint/models/family.h"
#include "tests/models/configs.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::kDelta;
using test::kDense;
using test::kLatent;
using test::kMamba;
using test::kVision;
using test::read;
using test::shape_of;

namespace {

std::string with(const std::string& text, const std::string& pair) {
  return text.substr(0, text.rfind('}')) + ", " + pair + "}";
}

std::string kinds(const memory::ModelShape& shape) {
  std::string text;
  for (const memory::LayerCache& cache : shape.caches) {
    // full, sliding, chunked, MLA and its windows, cross, recurrent
    text += "fscmwxr"[static_cast<size_t>(cache.kind)];
  }
  return text;
}

}  // namespace

TEST_CASE("a dense config gives its dimensions and one full cache per layer") {
  const ShapeResult result = shape_of(kDense);
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  CHECK(result.shape->architecture == "LlamaForCausalLM");
  CHECK(result.shape->num_layers == 2);
  CHECK(result.shape->num_kv_heads == 2);
  CHECK(result.shape->head_dim == 8);
  CHECK(result.shape->dtype == memory::ElementType::kFloat16);
  REQUIRE(result.shape->caches.size() == 2);
  CHECK(result.shape->caches[1].layer == 1);
  CHECK(result.shape->caches[1].kind == memory::CacheKind::kFull);
  CHECK(result.shape->caches[1].kv_heads == 2);
}

TEST_CASE("an architecture that is not in the tables is refused by name") {
  const ShapeResult result =
      shape_of(R"({"architectures": ["FooForCausalLM"], "model_type": "llama"})");
  CHECK(result.shape == nullptr);
  CHECK(result.error == "unknown architecture FooForCausalLM");
}

TEST_CASE("a key that changes attention and is not understood is named") {
  for (const std::string pair :
       {R"("kv_lora_rank": 512)", R"("num_kv_shared_layers": 2)", R"("mamba_d_state": 16)",
        R"("layer_types": ["full_attention", "linear_attention"])", R"("vision_config": {"a": 1})",
        R"("attention_chunk_size": 8192)", R"("num_local_experts": 8)"}) {
    const ShapeResult result = shape_of(with(kDense, pair));
    INFO(pair);
    CHECK(result.shape == nullptr);
    const std::string key = pair.substr(1, pair.find('"', 1) - 1);
    CHECK(result.error.find("'" + key + "'") != std::string::npos);
  }
}

TEST_CASE("windows go to the layers that the config or the family names") {
  struct Case {
    const char* architecture;
    const char* keys;
    const char* kinds;
  };
  const Case cases[] = {
      {"MistralForCausalLM", R"("sliding_window": 128)", "ss"},
      {"MistralForCausalLM", R"("sliding_window": null)", "ff"},
      {"MistralForCausalLM", R"("head_dim": 8)", "ss"},  // absent: the class says 4096
      {"Qwen2ForCausalLM", R"("sliding_window": 128, "use_sliding_window": false)", "ff"},
      {"Qwen2ForCausalLM",
       R"("sliding_window": 128, "use_sliding_window": true, "max_window_layers": 1)", "fs"},
      {"Gemma2ForCausalLM", R"("sliding_window": 128, "head_dim": 8)", "sf"},
      {"Exaone4ForCausalLM", R"("sliding_window": 128, "sliding_window_pattern": "GL")", "fs"},
      {"LlamaForCausalLM",
       R"("sliding_window": 128, "layer_types": ["full_attention", "sliding_attention"])", "fs"},
      {"LlamaForCausalLM",
       R"("layer_types": ["full_attention", "full_attention", "full_attention"])", "ff"},
  };
  for (const Case& c : cases) {
    std::string config = with(kDense, c.keys);
    config.replace(config.find("LlamaForCausalLM"), 16, c.architecture);
    INFO(config);
    CHECK(kinds(read(config)) == c.kinds);
  }
}

TEST_CASE("layer_types with too few entries is refused") {
  const ShapeResult result = shape_of(with(kDense, R"("layer_types": ["full_attention"])"));
  CHECK(result.error.find("'layer_types' has 1 entries for 2 layers") != std::string::npos);
}

TEST_CASE("KV heads are found under every spelling") {
  const std::string config = R"({"architectures": ["FalconForCausalLM"], "num_hidden_layers": 1,
    "hidden_size": 64, "num_attention_heads": 8, "vocab_size": 100, )";
  CHECK(read(config + R"("multi_query": true})").num_kv_heads == 1);
  CHECK(read(config + R"("multi_query": false})").num_kv_heads == 8);
  CHECK(read(config + R"("multi_query": true, "new_decoder_architecture": true,
    "num_kv_heads": 4})")
            .num_kv_heads == 4);
  CHECK(read(config + R"("n_head_kv": null})").num_kv_heads == 8);
}

TEST_CASE("latent attention keeps one vector per token and layer") {
  const memory::ModelShape shape = read(kLatent);
  CHECK(kinds(shape) == "mmm");
  CHECK(shape.caches[0].head_dim == 40);
  CHECK(shape.caches[0].value_head_dim == 0);
  CHECK(shape.num_experts == 8);
  CHECK(shape.rotary_dim == 8);
}

TEST_CASE("a sparse indexer keeps bytes of its own") {
  std::string config = with(kLatent, R"("index_topk": 64, "index_n_heads": 4,
    "index_head_dim": 128, "indexer_types": ["full", "shared", "full"])");
  config.replace(config.find("DeepseekV3"), 10, "DeepseekV32");
  const memory::ModelShape shape = read(config);
  REQUIRE(kinds(shape) == "mmmmm");
  CHECK(shape.caches[0].head_dim == 132);
  CHECK(shape.caches[0].stored_type == memory::ElementType::kUInt8);
  CHECK(shape.caches[2].layer == 1);
}

TEST_CASE("gated delta layers keep a window and a state") {
  const memory::ModelShape shape = read(kDelta);
  CHECK(kinds(shape) == "rrrf");
  REQUIRE(shape.caches[0].state.size() == 2);
  CHECK(shape.caches[0].state[0].shape == std::vector<uint64_t>{3, 96});
  CHECK(shape.caches[0].state[1].shape == std::vector<uint64_t>{4, 16, 8});
}

TEST_CASE("a pattern of letters says what each layer is") {
  const memory::ModelShape shape = read(kMamba);
  CHECK(kinds(shape) == "rf");
  CHECK(shape.caches[0].state[0].shape == std::vector<uint64_t>{3, 256});
  CHECK(shape.caches[0].state[1].type == memory::ElementType::kFloat32);
  CHECK(shape.caches[0].state_chunk_tokens == 64);
  CHECK(shape.caches[1].layer == 2);
}

TEST_CASE("a multimodal config gives its decoder and a tower on every stage") {
  const memory::ModelShape shape = read(kVision);
  CHECK(shape.multimodal);
  CHECK(kinds(shape) == "sssssf");
  CHECK(shape.rotary_cache_positions ==
        9 * 1024);  // linear scaling of full layers, plain of others
  CHECK(std::any_of(shape.weights.begin(), shape.weights.end(), [](const memory::Weight& weight) {
    return weight.place == memory::Place::kEveryStage;
  }));
}

TEST_CASE("tied embeddings are held once, and twice when stages part them") {
  const memory::ModelShape tied = read(with(kDense, R"("tie_word_embeddings": true)"));
  const memory::ModelShape untied = read(kDense);
  CHECK(memory::parameter_count(untied) == memory::parameter_count(tied) + 1000 * 64);
  memory::EngineSettings settings;
  settings.pipeline_parallel = 2;
  CHECK(memory::rank_weight_bytes(tied, settings, 1) ==
        memory::rank_weight_bytes(untied, settings, 1));
}

TEST_CASE("no architecture and no model type is in two families") {
  std::vector<std::string> names;
  for (const auto table : {models::dense_families(), models::moe_families(),
                           models::hybrid_families(), models::vision_families()}) {
    for (const models::Family& family : table) {
      for (const std::string_view list : {family.architectures, family.model_types}) {
        models::any_part(list, '|', [&](std::string_view name) {
          names.emplace_back(name);
          return false;
        });
      }
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  CHECK((twice == names.end() ? "" : *twice) == "");
}
