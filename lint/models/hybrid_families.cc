// The families with recurrent layers. Facts: the classes in vllm/model_executor/models (0.11 to
// 0.33) for tensors, transformers' configuration classes for defaults of absent keys.
#include "lint/models/family.h"
#include "lint/models/uneven_layers.h"

namespace kvbudget::models {
namespace {

constexpr std::string_view kDeltaKeys =
    "linear_num_key_heads|linear_num_value_heads|full_attention_interval";
constexpr std::string_view kMamba1Keys = "state_size|ssm_cfg|mamba_d_state|attn_layer_period";
constexpr std::string_view kMamba2Keys =
    "mamba_d_state|mamba_d_ssm|mamba_num_heads|mamba_n_heads|ssm_state_size|"
    "hybrid_override_pattern|layers_block_type";

constexpr std::string_view kBambaKeys = "mamba_d_state|mamba_n_heads|attn_layer_indices";

constexpr Moe kNextExperts{.shared_size = "shared_expert_intermediate_size", .shared_gate = true};
constexpr Moe kNemotronExperts{.shared_size = "moe_shared_expert_intermediate_size",
                               .latent = "moe_latent_size",
                               .router_bias = true,
                               .gated = false};
constexpr std::string_view kPuzzleKeys =
    "mamba_num_heads|ssm_state_size|hybrid_override_pattern|block_configs";
constexpr Moe kPuzzleExperts{.shared_size = "moe_shared_expert_intermediate_size",
                             .latent = "moe_latent_size",
                             .router_bias = true,
                             .gated = false,
                             .block = "block_configs"};
constexpr Moe kGraniteExperts{.inner = "intermediate_size",
                              .shared_size = "shared_intermediate_size"};
constexpr Moe kJambaExperts{.inner = "intermediate_size"};
constexpr Moe kLiquidExperts{.router_bias = true};

constexpr Moe kKimiExperts{.per_token = "num_experts_per_token",
                           .shared_count = "num_shared_experts",
                           .latent = "routed_expert_hidden_size",
                           .latent_norm = "latent_moe_use_norm",
                           .router_bias = true};
constexpr Moe kBailingExperts{.shared_size = "moe_shared_expert_intermediate_size",
                              .shared_count = "num_shared_experts",
                              .router_bias = true};
constexpr Moe kLightningExperts{.inner = "intermediate_size",
                                .shared_size = "shared_intermediate_size"};

constexpr Family kHybrid[] = {
    {.architectures = "Qwen3NextForCausalLM",
     .model_types = "qwen3_next",
     .defaults = "full_attention_interval=4,decoder_sparse_step=1",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .rotary_fraction = 0.25,
     .output_gate = true,
     .state = State::kGatedDelta,
     .claims = kDeltaKeys,
     .moe = &kNextExperts},
    {.architectures = "Qwen3_5ForCausalLM",
     .model_types = "qwen3_5_text",
     .defaults = "full_attention_interval=4",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .rotary_fraction = 0.25,
     .output_gate = true,
     .state = State::kGatedDelta,
     .claims = kDeltaKeys},
    {.architectures = "Qwen3_5MoeForCausalLM",
     .model_types = "qwen3_5_moe_text",
     .defaults = "full_attention_interval=4,decoder_sparse_step=1",
     .qkv_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kHead,
     .rotary_fraction = 0.25,
     .output_gate = true,
     .state = State::kGatedDelta,
     .claims = kDeltaKeys,
     .moe = &kNextExperts},
    {.architectures = "OlmoHybridForCausalLM",
     .model_types = "olmo_hybrid",
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .qk_norm = QkNorm::kWhole,
     .state = State::kGatedDelta,
     .claims = kDeltaKeys},
    {.architectures = "NemotronHForCausalLM",
     .model_types = "nemotron_h",
     .defaults = "mamba_ssm_cache_dtype=float32",
     .layer_norms = 1,
     .gated = false,
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .mlp_bias = {.keys = "mlp_bias"},
     .positions = Positions::kNone,
     .state = State::kMamba2,
     .claims = kMamba2Keys,
     .moe = &kNemotronExperts},
    {.architectures = "NemotronHPuzzleForCausalLM",
     .model_types = "nemotron_h_puzzle",
     .defaults = "mamba_ssm_cache_dtype=float32",
     .layer_norms = 1,
     .gated = false,
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .mlp_bias = {.keys = "mlp_bias"},
     .positions = Positions::kNone,
     .state = State::kMamba2,
     .adjust = adjust_puzzle,
     .claims = kPuzzleKeys,
     .moe = &kPuzzleExperts},
    {.architectures = "GraniteMoeHybridForCausalLM",
     .model_types = "granitemoehybrid",
     .defaults = "mamba_d_conv=4",
     .qkv_bias = {.keys = "attention_bias"},
     .out_bias = {.keys = "attention_bias"},
     .state = State::kMamba2,
     .claims = kMamba2Keys,
     .moe = &kGraniteExperts},
    {.architectures = "FalconH1ForCausalLM",
     .model_types = "falcon_h1",
     .qkv_bias = {.keys = "attention_bias"},
     .mlp_bias = {.keys = "mlp_bias"},
     .state = State::kMamba2,
     .state_beside_attention = true,
     .claims = kMamba2Keys},
    {.architectures = "BambaForCausalLM",
     .model_types = "bamba",
     .defaults = "num_key_value_heads=8",
     .mlp_bias = {.keys = "mlp_bias"},
     .rotary_fraction = 0.5,
     .state = State::kMamba2,
     .adjust = check_bamba,
     .claims = kBambaKeys},
    {.architectures = "Mamba2ForCausalLM",
     .model_types = "mamba2",
     .layer_norms = 1,
     .state = State::kMamba2,
     .attention_free = true,
     .claims = "state_size|ssm_cfg"},
    {.architectures = "Zamba2ForCausalLM",
     .model_types = "zamba2",
     .defaults = "num_mem_blocks=1,adapter_rank=128,mamba_d_state=64,mamba_d_conv=4,"
                 "mamba_ngroups=1,use_mem_rope=0",
     .layer_norms = 1,
     .tied = true,
     .positions = Positions::kNone,
     .state = State::kMamba2,
     .zamba2 = true,
     .claims = kMamba2Keys},
    {.architectures = "JambaForCausalLM",
     .model_types = "jamba",
     .defaults = "attn_layer_period=8,attn_layer_offset=4,expert_layer_period=2,"
                 "expert_layer_offset=1,num_experts=16,num_experts_per_tok=2,mamba_d_state=16,"
                 "mamba_d_conv=4,mamba_expand=2,num_key_value_heads=8",
     .positions = Positions::kNone,
     .state = State::kMamba1,
     .claims = kMamba1Keys,
     .moe = &kJambaExperts},
    {.architectures = "KimiLinearForCausalLM",
     .model_types = "kimi_linear",
     .positions = Positions::kNone,
     .mla = true,
     .state = State::kKda,
     .claims = "kv_lora_rank|q_lora_rank|qk_rope_head_dim|v_head_dim|linear_attn_config",
     .moe = &kKimiExperts},
    {.architectures = "BailingMoeV2_5ForCausalLM",
     .model_types = "bailing_moe_v2_5",
     .defaults = "kv_lora_rank=512,layer_group_size=1",
     .mla = true,
     .state = State::kLightning,
     .claims = "kv_lora_rank|q_lora_rank|qk_rope_head_dim|v_head_dim",
     .moe = &kBailingExperts},
    {.architectures = "BailingMoeV3ForCausalLM",
     .model_types = "bailing_hybrid",
     .defaults = "kv_lora_rank=512",
     .mla = true,
     .state = State::kKda,
     .claims = "kv_lora_rank|q_lora_rank|qk_rope_head_dim|v_head_dim",
     .moe = &kBailingExperts},
    {.architectures = "MiniMaxText01ForCausalLM|MiniMaxForCausalLM|MiniMaxM1ForCausalLM",
     .model_types = "minimax_text_01|minimax|minimax_m1",
     .state = State::kLightning,
     .claims = "attn_type_list",
     .moe = &kLightningExperts},
    {.architectures = "MambaForCausalLM|FalconMambaForCausalLM",
     .model_types = "mamba|falcon_mamba",
     .defaults = "state_size=16,conv_kernel=4",
     .layer_norms = 1,
     .tied = true,
     .state = State::kMamba1,
     .attention_free = true,
     .claims = kMamba1Keys},
    {.architectures = "Lfm2ForCausalLM",
     .model_types = "lfm2",
     .qk_norm = QkNorm::kHead,
     .tied = true,
     .state = State::kShortConv,
     .claims = "conv_L_cache"},
    {.architectures = "Lfm2MoeForCausalLM",
     .model_types = "lfm2_moe",
     .qk_norm = QkNorm::kHead,
     .tied = true,
     .state = State::kShortConv,
     .claims = "conv_L_cache",
     .moe = &kLiquidExperts},
};

}  // namespace

std::span<const Family> hybrid_families() { return kHybrid; }

}  // namespace kvbudget::models
