// The decoders that exist only beside encoders of sound. Facts: the classes in
// vllm/model_executor/models (0.8 to 0.32) for tensors, transformers' configuration classes for
// defaults of absent keys.
#include "lint/models/family.h"

namespace kvbudget::models {
namespace {

constexpr Toggle kYes{.otherwise = true};
constexpr Moe kPlainExperts{};

constexpr Family kAudio[] = {
    {.model_types = "qwen2_5_omni_text",
     .defaults = "num_key_value_heads=4,sliding_window=32768,max_window_layers=28,"
                 "use_sliding_window=0",
     .nested_defaults = "num_hidden_layers=28,hidden_size=3584,num_attention_heads=28,"
                        "intermediate_size=18944,vocab_size=152064,max_position_embeddings=32768",
     .qkv_bias = kYes},
    {.model_types = "qwen3_asr_text",
     .defaults = "head_dim=128,num_key_value_heads=8",
     .nested_defaults = "num_hidden_layers=28,hidden_size=2048,num_attention_heads=16,"
                        "intermediate_size=6144,vocab_size=151936,max_position_embeddings=65536",
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead},
    {.model_types = "qwen3_omni_moe_text",
     .defaults = "num_key_value_heads=4,decoder_sparse_step=1,num_experts=128,"
                 "num_experts_per_tok=8,moe_intermediate_size=768",
     .nested_defaults = "num_hidden_layers=28,hidden_size=2048,num_attention_heads=28,"
                        "intermediate_size=18944,vocab_size=3584,max_position_embeddings=32768",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .moe = &kPlainExperts},
};

}  // namespace

std::span<const Family> audio_families() { return kAudio; }

}  // namespace kvbudget::models
