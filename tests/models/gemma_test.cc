#include "lint/memory/weights.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::CacheKind;

namespace {

std::string gemma3n(const std::string& more) {
  return R"({"architectures": ["Gemma3nForConditionalGeneration"], "model_type": "gemma3n",
    "text_config": {"model_type": "gemma3n_text", "num_hidden_layers": 5, "hidden_size": 64,
    "intermediate_size": [128, 128, 128, 128, 256], "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 640,
    "vocab_size_per_layer_input": 512, "hidden_size_per_layer_input": 8, "sliding_window": 32,
    "num_kv_shared_layers": 2, "laurel_rank": 4})" +
         more + "}";
}

std::string gemma4(const std::string& more) {
  return R"({"architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text",
    "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 640,
    "sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"])" +
         more + "}";
}

uint64_t count_of(const memory::ModelShape& shape, const std::string& name) {
  uint64_t count = 0;
  for (const memory::Weight& weight : shape.weights) {
    const uint64_t times = std::max(weight.layer_count, 1u) * weight.separate_copies;
    if (weight.name == name) count += weight.rows * weight.columns * weight.copies * times;
  }
  return count;
}

}  // namespace

TEST_CASE("the last layers of Gemma 3n share caches, and widths differ by layer") {
  const auto result = test::shape_of(gemma3n(""));
  REQUIRE(result.error == "");
  CHECK(result.shape->caches.size() == 3);
  CHECK(result.shape->caches.back().kind == CacheKind::kSliding);
  CHECK(count_of(*result.shape, "mlp.down_proj") == 64 * (4 * 128 + 256));
  CHECK(test::shape_of(gemma3n("")).shape->sliding_window == 32);
}

TEST_CASE("Gemma 3n has streams, a bypass, embeddings of each layer and two towers") {
  const auto shape = test::shape_of(gemma3n("")).shape;
  REQUIRE(shape != nullptr);
  CHECK(count_of(*shape, "altup_projections") == 3 * 64 * 64);
  CHECK(count_of(*shape, "altup_unembed_projections") == 3 * 64 * 64);
  CHECK(count_of(*shape, "laurel.linear_left") == 5 * 4 * 64);
  CHECK(count_of(*shape, "embed_tokens_per_layer") == 512 * 5 * 8);
  CHECK(count_of(*shape, "layers") == 12 * 24 * 1536 * 1536);
  CHECK(count_of(*shape, "projector") == 64 * (2048 + 1536));
  const auto other = test::shape_of(gemma3n(R"(, "vision_config": {"architecture": "vit"})"));
  CHECK(other.error.find("'vit' is not understood") != std::string::npos);
}

TEST_CASE("experts of Gemma 4 stand beside an MLP") {
  const auto dense = test::shape_of(gemma4("")).shape;
  const auto sparse = test::shape_of(gemma4(R"(, "enable_moe_block": true, "num_experts": 8,
    "top_k_experts": 2, "moe_intermediate_size": 32)"));
  REQUIRE(dense != nullptr);
  REQUIRE(sparse.error == "");
  CHECK(dense->num_experts == 0);
  CHECK(sparse.shape->num_experts == 8);
  CHECK(sparse.shape->experts_per_token == 2);
  const uint64_t experts = 2 * 8 * 3 * 32 * 64;
  const uint64_t routers = 2 * 8 * 64;
  CHECK(memory::parameter_count(*sparse.shape) ==
        memory::parameter_count(*dense) + experts + routers);
}
