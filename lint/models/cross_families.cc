// The families whose decoder attends to an encoder's output. Facts: the classes in
// vllm/model_executor/models (0.6 to 0.32) for tensors, transformers' configuration classes for
// defaults of absent keys.
#include "lint/models/family.h"

namespace kvbudget::models {
namespace {

constexpr Toggle kYes{.otherwise = true};

constexpr Family kCross[] = {
    {.architectures = "WhisperForConditionalGeneration",
     .model_types = "whisper",
     .defaults = "vocab_size=51865,num_mel_bins=80,encoder_layers=4,encoder_attention_heads=6,"
                 "encoder_ffn_dim=1536,decoder_layers=4,decoder_attention_heads=6,"
                 "decoder_ffn_dim=1536,d_model=384,max_source_positions=1500,"
                 "max_target_positions=448",
     .norm = Norm::kLayer,
     .layer_norms = 3,
     .gated = false,
     .qkv_bias = kYes,
     .out_bias = kYes,
     .mlp_bias = kYes,
     .tied = true,
     .positions = Positions::kLearned,
     .cross = Cross::kEveryLayer,
     .whole_embedding = true,
     .claims = "is_encoder_decoder"},
    // The norm that others have behind their last layer stands behind the embeddings.
    {.architectures = "BartForConditionalGeneration|BartModel|MBartForConditionalGeneration",
     .model_types = "bart|mbart",
     .defaults = "vocab_size=50265,max_position_embeddings=1024,encoder_layers=12,"
                 "encoder_attention_heads=16,encoder_ffn_dim=4096,decoder_layers=12,"
                 "decoder_attention_heads=16,decoder_ffn_dim=4096,d_model=1024",
     .norm = Norm::kLayer,
     .layer_norms = 3,
     .gated = false,
     .qkv_bias = kYes,
     .out_bias = kYes,
     .mlp_bias = kYes,
     .tied = true,
     .positions = Positions::kLearned,
     .position_offset = 2,
     .cross = Cross::kEveryLayer,
     .claims = "is_encoder_decoder"},
    {.architectures = "MllamaForCausalLM",
     .model_types = "mllama_text_model",
     .defaults = "num_hidden_layers=40,hidden_size=4096,num_attention_heads=32,"
                 "num_key_value_heads=8,intermediate_size=14336,vocab_size=128256,"
                 "max_position_embeddings=131072",
     .cross = Cross::kListed,
     .extra_embeddings = 8,
     .claims = "cross_attention_layers|is_encoder_decoder"},
};

}  // namespace

std::span<const Family> cross_families() { return kCross; }

}  // namespace kvbudget::models
