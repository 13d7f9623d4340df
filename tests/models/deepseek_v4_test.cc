#include "lint/memory/weights.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::CacheKind;

namespace {

// One layer of each kind: window alone, indexed, and compressed without an indexer.
std::string config(const std::string& ratios, const std::string& more) {
  return R"({"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4",
    "num_hidden_layers": 3, "hidden_size": 256, "num_attention_heads": 4,
    "num_key_value_heads": 1, "head_dim": 128, "q_lora_rank": 64, "o_lora_rank": 32,
    "o_groups": 2, "qk_rope_head_dim": 16, "index_head_dim": 128, "index_n_heads": 8,
    "index_topk": 64, "sliding_window": 32, "hc_mult": 4, "num_hash_layers": 1,
    "topk_method": "noaux_tc", "n_routed_experts": 8, "n_shared_experts": 1,
    "num_experts_per_tok": 2, "moe_intermediate_size": 64, "vocab_size": 640,
    "max_position_embeddings": 1024, "compress_ratios": )" +
         ratios + more + "}";
}

const memory::Weight* find_weight(const memory::ModelShape& shape, const std::string& name) {
  for (const memory::Weight& weight : shape.weights) {
    if (weight.name == name) return &weight;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a compressed layer keeps an indexer, a window, entries and compressor states") {
  const auto result = test::shape_of(config("[0, 4, 128]", ""));
  REQUIRE(result.error == "");
  struct Row {
    uint32_t layer;
    CacheKind kind;
    uint32_t head_dim, window, block, per_state;
  };
  const std::vector<Row> rows = {
      {0, CacheKind::kSlidingMla, 128, 32, 64, 1},   // window alone
      {1, CacheKind::kMla, 132, 0, 0, 4},            // FP8 keys of the indexer and their scale
      {1, CacheKind::kSlidingMla, 512, 8, 4, 1},     // its compressor: sums and scores, overlapping
      {1, CacheKind::kSlidingMla, 128, 32, 64, 1},   // window
      {1, CacheKind::kMla, 128, 0, 0, 4},            // entries
      {1, CacheKind::kSlidingMla, 512, 8, 4, 1},     // their compressor
      {2, CacheKind::kSlidingMla, 128, 32, 64, 1},   //
      {2, CacheKind::kMla, 128, 0, 0, 128},          //
      {2, CacheKind::kSlidingMla, 256, 128, 8, 1}};  // no overlap at the large ratio
  REQUIRE(result.shape->caches.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO("cache " << i);
    const memory::LayerCache& cache = result.shape->caches[i];
    CHECK(cache.layer == rows[i].layer);
    CHECK(cache.kind == rows[i].kind);
    CHECK(cache.head_dim == rows[i].head_dim);
    CHECK(cache.window_tokens == rows[i].window);
    CHECK(cache.block_tokens == rows[i].block);
    CHECK(cache.tokens_per_state == rows[i].per_state);
    CHECK(cache.deepseek_v4);
  }
  CHECK(result.shape->caches[1].stored_type == memory::ElementType::kUInt8);
  CHECK(result.shape->caches[2].stored_type == memory::ElementType::kFloat32);
  CHECK_FALSE(result.shape->caches[4].stored_type);
}

TEST_CASE("routers of the first layers are tables by token, later ones correct their scores") {
  const auto shape = test::shape_of(config("[0, 4, 128]", "")).shape;
  REQUIRE(shape != nullptr);
  const memory::Weight* table = find_weight(*shape, "mlp.gate.tid2eid");
  REQUIRE(table != nullptr);
  CHECK(table->rows * table->columns == 640 * 2);
  CHECK(table->layer_count == 1);
  const memory::Weight* correction = find_weight(*shape, "mlp.gate.e_score_correction_bias");
  REQUIRE(correction != nullptr);
  CHECK(correction->first_layer == 1);
  CHECK(correction->layer_count == 2);
}

TEST_CASE("experts are FP4 beside FP8 layers unless the config says otherwise") {
  const std::string fp8 = R"(, "quantization_config": {"quant_method": "fp8",
    "weight_block_size": [128, 128], "ignore": ["*.attn.*"])";
  struct Row {
    std::string more;
    uint32_t bits, group;
  };
  for (const Row& row : {Row{fp8 + "}", 4, 32}, Row{fp8 + R"(, "moe_quant_algo": "NVFP4"})", 4, 16},
                         Row{fp8 + R"(}, "expert_dtype": "fp8")", 8, 128}}) {
    const auto result = test::shape_of(config("[0, 4, 128]", row.more));
    REQUIRE(result.error == "");
    CHECK(result.shape->quantization == "deepseek_v4_fp8");
    const memory::Weight* experts = find_weight(*result.shape, "mlp.experts.down_proj");
    REQUIRE(experts != nullptr);
    CHECK(experts->format.bits == row.bits);
    CHECK(experts->format.group == row.group);
    // The engine reads ignored_layers of FP8 checkpoints, not ignore.
    CHECK(find_weight(*result.shape, "attn.wq_b")->format.bits == 8);
    CHECK(find_weight(*result.shape, "attn.compressor.fused_wkv_wgate")->format.bits == 16);
  }
}

TEST_CASE("compress_ratios that no kernel knows are refused") {
  CHECK(test::shape_of(config("[0, 4, 16]", "")).error.find("compress_ratios") !=
        std::string::npos);
  CHECK(test::shape_of(config("[0, 4]", "")).error.find("layer 2") != std::string::npos);
  CHECK(test::shape_of(config("[0, 4, 128]", R"(, "vision_n_layers": 2)"))
            .error.find("vision_n_layers") != std::string::npos);
}
