// Small configs of each kind that tests build on.
#pragma once

namespace kvbudget::test {

inline constexpr const char* kDense = R"({"architectures": ["LlamaForCausalLM"],
  "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
  "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
  "max_position_embeddings": 512, "torch_dtype": "float16"})";

inline constexpr const char* kLatent = R"({"architectures": ["DeepseekV3ForCausalLM"],
  "model_type": "deepseek_v3", "num_hidden_layers": 3, "hidden_size": 64,
  "num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 32, "q_lora_rank": 24,
  "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16, "intermediate_size": 128,
  "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1,
  "num_experts_per_tok": 2, "first_k_dense_replace": 1, "vocab_size": 1000,
  "max_position_embeddings": 512})";

inline constexpr const char* kDelta = R"({"architectures": ["Qwen3NextForCausalLM"],
  "model_type": "qwen3_next", "num_hidden_layers": 4, "hidden_size": 64,
  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128,
  "full_attention_interval": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
  "linear_key_head_dim": 8, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4,
  "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32, "num_experts": 8,
  "num_experts_per_tok": 2, "vocab_size": 1000, "max_position_embeddings": 512})";

inline constexpr const char* kMamba = R"({"architectures": ["NemotronHForCausalLM"],
  "model_type": "nemotron_h", "num_hidden_layers": 4, "hybrid_override_pattern": "M-*E",
  "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
  "intermediate_size": 128, "mamba_num_heads": 8, "mamba_head_dim": 16, "n_groups": 2,
  "ssm_state_size": 32, "conv_kernel": 4, "chunk_size": 64, "n_routed_experts": 8,
  "moe_intermediate_size": 32, "moe_shared_expert_intermediate_size": 64,
  "num_experts_per_tok": 2, "vocab_size": 1000, "time_step_limit": [0.0, Infinity]})";

inline constexpr const char* kVision = R"({"architectures": ["Gemma3ForConditionalGeneration"],
  "model_type": "gemma3", "torch_dtype": "bfloat16",
  "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 6, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128,
    "vocab_size": 1000, "sliding_window": 256, "rope_scaling": {"rope_type": "linear",
    "factor": 8.0}, "max_position_embeddings": 1024},
  "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 32,
    "intermediate_size": 64, "num_hidden_layers": 2, "patch_size": 14, "image_size": 28}})";

}  // namespace kvbudget::test
