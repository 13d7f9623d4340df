// Recurrent layers that a config lists by number: Kimi's delta attention and lightning attention.
#include "lint/memory/weights.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::CacheKind;
using memory::ElementType;
using memory::StateKind;

namespace {

std::string kimi(const std::string& linear, const std::string& more) {
  return R"({"architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear",
    "num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "kv_lora_rank": 32,
    "qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "v_head_dim": 32, "intermediate_size": 512,
    "moe_intermediate_size": 64, "num_experts": 8, "num_experts_per_token": 2,
    "num_shared_experts": 1, "first_k_dense_replace": 1, "vocab_size": 640,
    "max_position_embeddings": 4096, "linear_attn_config": {"kda_layers": [1, 2, 3],
    "full_attn_layers": [4], "head_dim": 128, "num_heads": 4, "short_conv_kernel_size": 4)" +
         linear + "}" + more + "}";
}

std::string lightning(const std::string& list) {
  return R"({"architectures": ["MiniMaxM1ForCausalLM"], "model_type": "minimax_m1",
    "num_hidden_layers": 3, "hidden_size": 256, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 64, "num_local_experts": 4,
    "num_experts_per_tok": 2, "vocab_size": 640, "max_position_embeddings": 4096,
    "rotary_dim": 16, "attn_type_list": )" +
         list + "}";
}

}  // namespace

TEST_CASE("layers of Kimi's delta attention are counted from one") {
  const auto result = test::shape_of(kimi("", ""));
  REQUIRE(result.error == "");
  const auto& caches = result.shape->caches;
  REQUIRE(caches.size() == 4);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(caches[i].kind == CacheKind::kMamba);
    CHECK(caches[i].state_kind == StateKind::kKda);
    REQUIRE(caches[i].state.size() == 2);
    CHECK(caches[i].state[0].shape == std::vector<uint64_t>{3, 3 * 512});
    CHECK(caches[i].state[1].shape == std::vector<uint64_t>{4, 128, 128});
    CHECK(caches[i].state[1].type == ElementType::kFloat32);
  }
  CHECK(caches[3].kind == CacheKind::kMla);
  CHECK(caches[3].head_dim == 48);
}

TEST_CASE("bounded gates of full rank have the kernels that keep states") {
  struct Row {
    const char* linear;
    StateKind kind;
  };
  for (const Row& row :
       {Row{R"(, "use_full_rank_gate": true, "gate_lower_bound": -5.0)", StateKind::kFlashKda},
        Row{R"(, "use_full_rank_gate": true)", StateKind::kKda},
        Row{R"(, "gate_lower_bound": -5.0)", StateKind::kKda}}) {
    INFO(row.linear);
    CHECK(test::shape_of(kimi(row.linear, "")).shape->caches.front().state_kind == row.kind);
  }
}

TEST_CASE("a gate of full rank replaces two matrices of low rank") {
  const auto low = test::shape_of(kimi("", "")).shape;
  const auto full = test::shape_of(kimi(R"(, "use_full_rank_gate": true)", "")).shape;
  const auto gated = test::shape_of(kimi("", R"(, "mla_use_output_gate": true)")).shape;
  const uint64_t width = 512;
  CHECK(memory::parameter_count(*full) + 3 * (256 * 128 + 128 * width) ==
        memory::parameter_count(*low) + 3 * 256 * width);
  CHECK(memory::parameter_count(*gated) == memory::parameter_count(*low) + 256 * 4 * 32);
}

TEST_CASE("lightning attention keeps one state a head") {
  const auto result = test::shape_of(lightning("[0, 0, 1]"));
  REQUIRE(result.error == "");
  const auto& caches = result.shape->caches;
  REQUIRE(caches.size() == 3);
  CHECK(caches[0].state_kind == StateKind::kLinear);
  REQUIRE(caches[0].state.size() == 1);
  CHECK(caches[0].state[0].shape == std::vector<uint64_t>{4, 32, 32});
  CHECK(caches[0].state[0].type == ElementType::kBFloat16);
  CHECK(caches[2].kind == CacheKind::kFull);
  CHECK(test::shape_of(lightning("[0, 0]")).error.find("attn_type_list") != std::string::npos);
}

TEST_CASE("Kimi-K3 stores its routed experts in MXFP4 and nothing else") {
  const auto result = test::shape_of(R"({"architectures": ["KimiK3ForConditionalGeneration"],
    "model_type": "kimi_k3", "vision_config": {"vt_hidden_size": 64, "vt_num_hidden_layers": 2,
    "vt_intermediate_size": 128, "qkv_hidden_size": 96, "patch_size": 14}, "text_config": )" +
                                     kimi("", R"(, "routed_expert_hidden_size": 128,
    "quantization_config": {"quant_method": "compressed-tensors",
      "format": "mxfp4-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"],
      "weights": {"num_bits": 4, "type": "float", "group_size": 32, "strategy": "group"}}}})") +
                                     "}");
  REQUIRE(result.error == "");
  CHECK(result.shape->quantization == "mxfp4");
  for (const memory::Weight& weight : result.shape->weights) {
    INFO(weight.name);
    CHECK((weight.format.bits == 4) == weight.expert);
    if (weight.name == "mlp.experts.down_proj") CHECK(weight.rows == 128);
    if (weight.name == "vision.attn.qkv") CHECK(weight.rows == 3 * 96);
  }
}

TEST_CASE("Ling's recurrent layers come in groups that end with latent attention") {
  const std::string common = R"("num_hidden_layers": 5, "hidden_size": 256,
    "num_attention_heads": 4, "head_dim": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32, "v_head_dim": 32, "intermediate_size": 512,
    "moe_intermediate_size": 64, "moe_shared_expert_intermediate_size": 96, "num_experts": 8,
    "num_experts_per_tok": 2, "num_shared_experts": 2, "first_k_dense_replace": 1,
    "vocab_size": 640, "max_position_embeddings": 4096, "layer_group_size": 2)";
  struct Row {
    std::string architecture, more, kinds;
    std::vector<uint64_t> state;
  };
  const Row rows[] = {{"BailingMoeV2_5ForCausalLM", "", "rmrmr", {4, 32, 32}},
                      {"BailingMoeV3ForCausalLM",
                       R"(, "no_kda_lora": true, "short_conv_kernel_size": 4)",
                       "rmrmm",  // the layer behind the last group attends
                       {4, 32, 32}}};
  for (const Row& row : rows) {
    INFO(row.architecture);
    const auto result = test::shape_of(R"({"architectures": [")" + row.architecture + R"("], )" +
                                       common + row.more + "}");
    REQUIRE(result.error == "");
    std::string kinds;
    for (const auto& cache : result.shape->caches) {
      kinds += cache.kind == CacheKind::kMla ? 'm' : 'r';
    }
    CHECK(kinds == row.kinds);
    CHECK(result.shape->caches[0].state.back().shape == row.state);
    for (const memory::Weight& weight : result.shape->weights) {
      if (weight.name == "mlp.shared_experts.up_proj") CHECK(weight.rows == 2 * 96);
    }
  }
}

TEST_CASE("MiniMax-M3's indexers keep keys of one head beside the layers that they serve") {
  const auto config = [](const std::string& sparse) {
    return R"({"architectures": ["MiniMaxM3SparseForCausalLM"], "model_type": "minimax_m3",
      "num_hidden_layers": 3, "hidden_size": 256, "num_attention_heads": 8,
      "num_key_value_heads": 4, "head_dim": 32, "intermediate_size": 64,
      "dense_intermediate_size": 512, "num_local_experts": 8, "moe_layer_freq": [0, 1, 1],
      "vocab_size": 640, "rotary_dim": 16)" +
           sparse + "}";
  };
  const auto result = test::shape_of(config(R"(, "sparse_attention_config": {
    "sparse_attention_freq": [0, 1, 1], "sparse_index_dim": 16, "sparse_num_index_heads": 4})"));
  REQUIRE(result.error == "");
  const auto& caches = result.shape->caches;
  REQUIRE(caches.size() == 5);
  for (const size_t indexer : {1, 3}) {
    CHECK(caches[indexer].kv_heads == 1);
    CHECK(caches[indexer].head_dim == 16);
    CHECK(caches[indexer].value_head_dim == 0);
    CHECK(caches[indexer].stored_type == ElementType::kBFloat16);
    CHECK(caches[indexer + 1].kv_heads == 4);
  }
  for (const auto& cache : caches) CHECK(cache.block_tokens == 128);
  CHECK(test::shape_of(config("")).error.find("sparse_attention_config") != std::string::npos);
}
