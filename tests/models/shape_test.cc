#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::shape_of;

namespace {

const char* const kLlama = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2,
  "intermediate_size": 128, "vocab_size": 1000, "max_position_embeddings": 512,
  "torch_dtype": "float16"})";

std::string with(const std::string& text, const std::string& pair) {
  return text.substr(0, text.rfind('}')) + ", " + pair + "}";
}

}  // namespace

TEST_CASE("a dense config gives its dimensions and one full cache per layer") {
  const ShapeResult result = shape_of(kLlama);
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
    const ShapeResult result = shape_of(with(kLlama, pair));
    INFO(pair);
    CHECK(result.shape == nullptr);
    const std::string key = pair.substr(1, pair.find('"', 1) - 1);
    CHECK(result.error.find("'" + key + "'") != std::string::npos);
  }
}
