// The decoders that exist only inside multimodal models. Facts: the classes in
// vllm/model_executor/models (0.6 to 0.32) for tensors, the configuration classes of transformers
// and vllm/transformers_utils/configs for defaults of absent keys.
#include "lint/models/family.h"

namespace kvbudget::models {
namespace {

constexpr Moe kAriaExperts{.inner = "moe_intermediate_size|intermediate_size",
                           .shared_count = "moe_num_shared_experts"};
constexpr Moe kStep3Experts{.shared_size = "share_expert_dim"};
constexpr Moe kErnieVisionExperts{
    .shared_count = "moe_num_shared_experts", .router_bias = true, .vision_experts = true};

constexpr Family kVision[] = {
    {.architectures = "AriaTextForCausalLM",
     .model_types = "aria_text|aria_moe_lm",
     .defaults = "moe_num_shared_experts=2,moe_num_experts=8,moe_topk=2",
     .nested_defaults = "num_hidden_layers=32,hidden_size=4096,num_attention_heads=32,"
                        "intermediate_size=4096,vocab_size=32000,max_position_embeddings=2048",
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .moe = &kAriaExperts},
    {.model_types = "molmo",
     .qkv_bias = {.keys = "qkv_bias"},
     .qk_norm = QkNorm::kWhole,
     .use_qk_norm = {.keys = "attention_layer_norm"},
     .intermediate_divisor = 2,
     .extra_embeddings = 128},
    {.model_types = "molmo2_text|molmo2",
     .qkv_bias = {.keys = "qkv_bias", .otherwise = true},
     .qk_norm = QkNorm::kWhole,
     .use_qk_norm = {.keys = "use_qk_norm"},
     .extra_embeddings = 128},
    {.architectures = "Step3TextForCausalLM",
     .model_types = "step3_text",
     .defaults = "num_key_value_heads=1,head_dim=256,share_q_dim=2048,first_k_dense_replace=4,"
                 "moe_layer_end_index=59,max_position_embedding=65536",
     .nested_defaults = "num_hidden_layers=61,hidden_size=7168,num_attention_heads=64,"
                        "intermediate_size=18432,vocab_size=128815,max_seq_len=65536,"
                        "moe_num_experts=48,moe_top_k=3,moe_intermediate_size=5120,"
                        "share_expert_dim=5120",
     .shared_query = "share_q_dim",
     .claims = "num_attention_groups",
     .moe = &kStep3Experts},
    {.model_types = "glm_ocr_text",
     .nested_defaults = "num_hidden_layers=16,hidden_size=1024,num_attention_heads=16,"
                        "num_key_value_heads=8,intermediate_size=4096,vocab_size=59392,"
                        "max_position_embeddings=131072",
     .layer_norms = 4,
     .qkv_bias = {.keys = "attention_bias"}},
    {.architectures = "MuseGlimmerForCausalLM",
     .model_types = "muse_glimmer_text",
     .nested_defaults = "num_hidden_layers=52,hidden_size=6656,num_attention_heads=32,"
                        "num_key_value_heads=2,head_dim=128,intermediate_size=19968,"
                        "vocab_size=202048,max_position_embeddings=16384,sliding_window=2048",
     .layer_norms = 4,
     .full_every = 4,
     .output_gate = true},
    {.model_types = "ernie4_5_vl_moe_text",
     .nested_defaults = "num_hidden_layers=28,hidden_size=2560,num_attention_heads=20,"
                        "num_key_value_heads=4,intermediate_size=12288,vocab_size=103424,"
                        "max_position_embeddings=131072,moe_num_shared_experts=2,moe_k=6",
     .qkv_bias = {.keys = "use_bias"},
     .mlp_bias = {.keys = "use_bias"},
     .tied = true,
     .moe = &kErnieVisionExperts},
};

}  // namespace

std::span<const Family> vision_families() { return kVision; }

}  // namespace kvbudget::models
