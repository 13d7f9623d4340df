// The families with experts. Facts: the classes in vllm/model_executor/models (0.10 to 0.33) for
// tensors, transformers' configuration classes for defaults of absent keys.
#include "lint/models/family.h"

namespace kvbudget::models {
namespace {

constexpr Moe kPlainExperts{};
constexpr Moe kWideExperts{.inner = "intermediate_size"};
constexpr Moe kQwen2Experts{.shared_size = "shared_expert_intermediate_size", .shared_gate = true};
constexpr Moe kDeepseekExperts{.shared_count = "n_shared_experts"};
constexpr Moe kCorrectedExperts{.shared_count = "n_shared_experts", .router_bias = true};
constexpr Moe kCompressedExperts{.shared_count = "n_shared_experts"};
constexpr Moe kErnieExperts{.shared_count = "moe_num_shared_experts", .router_bias = true};
constexpr Moe kMiniMaxExperts{.inner = "intermediate_size", .router_bias = true};
constexpr Moe kGptOssExperts{.inner = "intermediate_size", .biases = true};

constexpr Moe kAfmoeExperts{.shared_count = "num_shared_experts", .router_bias = true};
constexpr Moe kLlama4Experts{.inner = "intermediate_size", .shared_like_expert = true};

constexpr std::string_view kLatentKeys = "kv_lora_rank|q_lora_rank|qk_rope_head_dim|v_head_dim";
constexpr std::string_view kSparseKeys =
    "kv_lora_rank|q_lora_rank|qk_rope_head_dim|v_head_dim|index_topk";

constexpr Family kMoe[] = {
    {.architectures = "DeepseekV2ForCausalLM",
     .model_types = "deepseek_v2",
     .nested_defaults = "kv_lora_rank=512,q_lora_rank=1536,qk_rope_head_dim=64,"
                        "qk_nope_head_dim=128,v_head_dim=128,max_position_embeddings=2048",
     .mla = true,
     .claims = kLatentKeys,
     .moe = &kDeepseekExperts},
    {.architectures = "DeepseekV3ForCausalLM|KimiK2ForCausalLM|Glm4MoeLiteForCausalLM",
     .model_types = "deepseek_v3|kimi_k2|glm4_moe_lite",
     .mla = true,
     .claims = kLatentKeys,
     .moe = &kCorrectedExperts},
    {.architectures = "DeepseekV32ForCausalLM|GlmMoeDsaForCausalLM",
     .model_types = "deepseek_v32|glm_moe_dsa",
     .mla = true,
     .claims = kSparseKeys,
     .moe = &kCorrectedExperts},
    {.architectures = "DeepseekV4ForCausalLM",
     .model_types = "deepseek_v4",
     .defaults = "max_position_embeddings=1048576",
     .deepseek_v4 = true,
     .claims = "q_lora_rank|qk_rope_head_dim|index_topk|compress_ratios",
     .moe = &kCompressedExperts},
    {.architectures = "Llama4ForCausalLM",
     .model_types = "llama4_text",
     .defaults = "num_key_value_heads=8,head_dim=128,interleave_moe_layer_step=1",
     .claims = "attention_chunk_size",
     .moe = &kLlama4Experts},
    {.architectures = "AfmoeForCausalLM",
     .model_types = "afmoe",
     .layer_norms = 4,
     .qk_norm = QkNorm::kHead,
     .full_every = 4,
     .output_gate = true,
     .moe = &kAfmoeExperts},
    {.architectures = "MixtralForCausalLM",
     .model_types = "mixtral",
     .defaults = "num_key_value_heads=8,num_local_experts=8,num_experts_per_tok=2",
     .moe = &kWideExperts},
    {.architectures = "PhiMoEForCausalLM|PhimoeForCausalLM",
     .model_types = "phimoe",
     .norm = Norm::kLayer,
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .head_bias = true,
     .moe = &kWideExperts},
    {.architectures = "GraniteMoeForCausalLM",
     .model_types = "granitemoe",
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .moe = &kWideExperts},
    {.architectures = "OlmoeForCausalLM",
     .model_types = "olmoe",
     .qk_norm = QkNorm::kWhole,
     .moe = &kWideExperts},
    {.architectures = "Qwen2MoeForCausalLM",
     .model_types = "qwen2_moe",
     .defaults = "sliding_window=4096,use_sliding_window=0,decoder_sparse_step=1",
     .qkv_bias = {.keys = "qkv_bias", .otherwise = true},
     .moe = &kQwen2Experts},
    {.architectures = "Qwen3MoeForCausalLM",
     .model_types = "qwen3_moe|qwen3_vl_moe_text",
     .defaults = "sliding_window=4096,use_sliding_window=0,decoder_sparse_step=1",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .moe = &kPlainExperts},
    {.architectures = "DeepseekForCausalLM", .model_types = "deepseek", .moe = &kDeepseekExperts},
    {.architectures = "Dots1ForCausalLM",
     .model_types = "dots1",
     .defaults = "use_sliding_window=0",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .moe = &kCorrectedExperts},
    {.architectures = "Glm4MoeForCausalLM",
     .model_types = "glm4_moe|glm4v_moe_text",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .use_qk_norm = {.keys = "use_qk_norm"},
     .rotary_fraction = 0.5,
     .moe = &kCorrectedExperts},
    {.architectures = "Ernie4_5_MoeForCausalLM",
     .model_types = "ernie4_5_moe",
     .qkv_bias = {.keys = "use_bias"},
     .out_bias = {.keys = "use_bias"},
     .mlp_bias = {.keys = "use_bias"},
     .tied = true,
     .moe = &kErnieExperts},
    {.architectures = "MiniMaxM2ForCausalLM",
     .model_types = "minimax_m2",
     .qk_norm = QkNorm::kWhole,
     .use_qk_norm = {.keys = "use_qk_norm", .otherwise = true},
     .moe = &kMiniMaxExperts},
    {.architectures = "GptOssForCausalLM",
     .model_types = "gpt_oss",
     .defaults = "sliding_window=128",
     .qkv_bias = {.keys = "attention_bias", .otherwise = true},
     .out_bias = {.keys = "attention_bias", .otherwise = true},
     .full_every = 2,
     .attention_sinks = true,
     .moe = &kGptOssExperts},
};

}  // namespace

std::span<const Family> moe_families() { return kMoe; }

}  // namespace kvbudget::models
