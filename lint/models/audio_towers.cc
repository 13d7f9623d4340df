// Encoders of sound, and the encoders of encoder-decoder models; wrapper.h says how to read the
// texts. Facts: the classes in vllm/model_executor/models (0.6 to 0.32), where those of
// transformers are whole on every rank; defaults of transformers' configuration classes, or of
// vllm/transformers_utils/configs.
#include "lint/models/wrapper.h"

namespace kvbudget::models {
namespace {

// h width, i width of the MLP, n layers, c mel bins, k positions.
constexpr std::string_view kWhisperSizes =
    "h=d_model|hidden_size:384 i=encoder_ffn_dim|intermediate_size:1536 "
    "n=encoder_layers|num_hidden_layers:4 c=num_mel_bins:80 k=max_source_positions:1500";
// With the numbers of Whisper large v3, from which most others start.
constexpr std::string_view kLargeSizes =
    "h=d_model|hidden_size:1280 i=encoder_ffn_dim|intermediate_size:5120 "
    "n=encoder_layers|num_hidden_layers:32 c=num_mel_bins:128 k=max_source_positions:1500";

constexpr std::string_view kWhole =
    "attn.qkv N n 3*h h+1; attn.proj N n h h+1; mlp.up N n i h+1; mlp.down N n h i+1; "
    "norms N n 4*h 1";
constexpr std::string_view kWhisperRest =
    "conv1 N 1 h 3*c+1; conv2 N 1 h 3*h+1; positions N 1 k h; norm N 1 2*h 1";

constexpr Tower kTowers[] = {
    {"whisper", kWhisperSizes, kPlain, kWhisperRest},
    {"whisper_large", kLargeSizes, kPlain, kWhisperRest},
    // Its positions are float32.
    {"voxtral_encoder", kLargeSizes, kPlain,
     "conv1 N 1 h 3*c+1; conv2 N 1 h 3*h+1; positions N 1 k 2*h; norm N 1 2*h 1"},
    {"qwen2_audio_encoder|audioflamingo3_encoder|musicflamingo_encoder", kLargeSizes, kWhole,
     kWhisperRest},
    {"qwen2_5_omni_audio_encoder",
     "h=d_model:1280 i=encoder_ffn_dim:5120 n=encoder_layers:32 c=num_mel_bins:128 "
     "k=max_source_positions:1500 x=output_dim:3584",
     kWhole,
     "conv1 N 1 h 3*c+1; conv2 N 1 h 3*h+1; positions N 1 k 2*h; norm N 1 2*h 1; "
     "ends N 2 x 1; proj N 1 x h+1"},
    {"qwen3_omni_moe_audio_encoder|qwen3_asr_audio_encoder|qwen3_asr_encoder",
     "h=d_model:1280 i=encoder_ffn_dim:5120 n=encoder_layers:32 c=num_mel_bins:128 "
     "k=max_source_positions:1500 x=output_dim:3584 d=downsample_hidden_size:480 "
     "y=:d*[([([(c+1)/2]+1)/2]+1)/2]",
     kPlain,
     "conv1 N 1 d 10; conv2 N 2 d 9*d+1; conv_out N 1 h y; positions N 1 k 2*h; norm N 1 2*h 1; "
     "proj1 N 1 h h+1; proj2 N 1 x h+1"},
    {"glmasr_encoder",
     "h=hidden_size:1280 i=intermediate_size:5120 n=num_hidden_layers:32 a=num_attention_heads:20 "
     "g=num_key_value_heads:a c=num_mel_bins:128",
     "attn.qkv R n h+2*g*h/a h+1; attn.proj C n h h; mlp.up R n i h+1; mlp.down C n h i; "
     "rest N n 6*h 1",
     "conv1 N 1 h 3*c+1; conv2 N 1 h 3*h+1; norm N 1 2*h 1"},
    // A conformer: two MLPs, attention with relative positions, a convolution.
    {"granite_speech_encoder",
     "h=hidden_dim:1024 n=num_layers:10 f=feedforward_mult:4 a=num_heads:8 d=dim_head:h/a "
     "i=input_dim:160 x=output_dim:42 k=max_pos_emb:512 c=conv_kernel_size:15 "
     "y=conv_expansion_factor:2 y=:y*h z=:a*d",
     "ff.up R 2*n f*h h+1; ff.down C 2*n h f*h; attn.qkv N n 3*z h; attn.out N n h z+1; "
     "attn.positions N n 2*k+1 d; conv.up N n 2*y h+1; conv.depth N n y c+4; conv.down N n h y+1; "
     "norms N n 12*h 1",
     "input N 1 h i+1; out R 1 x h+1; mid C 1 h x; mid.bias N 1 h 1"},
    {"midashenglm_dasheng_encoder",
     "h=embed_dim:768 n=depth:12 r=mlp_ratio:4 i=:[h*r] b=qkv_bias:1 p=patch_size:16 "
     "q=@patch_size:p c=input_channels:1 m=n_mels:64 k=target_length:1012 s=patch_stride:16 "
     "u=@patch_stride:s",
     "attn.qkv R n 3*h h+b; attn.proj C n h h; mlp.up R n i h+1; mlp.down C n h i; rest N n 8*h 1",
     "patch N 1 h c*p*q+1; positions N 1 [m/s]+[k/u] h; norm N 1 2*h 1"},
    // One more norm than Whisper's layers have in front of them stands behind the embeddings.
    {"bart_encoder|mbart_encoder",
     "h=d_model:1024 i=encoder_ffn_dim:4096 n=encoder_layers:12 k=max_position_embeddings:1024",
     kPlain, "positions R 1 k+2 h; norms N 1 4*h 1"},
    {"mllama_vision_model",
     "h=hidden_size:1280 i=intermediate_size:5120 n=num_hidden_layers:32 g=num_global_layers:8 "
     "x=vision_output_dim:7680 s=image_size:448 p=patch_size:14 c=num_channels:3 t=max_num_tiles:4 "
     "r=#supported_aspect_ratios:8 k=:[s/p]*[s/p]+1",
     "attn.qkv R n+g 3*h h; attn.proj C n+g h h; mlp.up R n+g i h+1; mlp.down C n+g h i; "
     "rest N n+g 5*h 1",
     "patch R 1 h c*p*p; class N 1 h 1; positions N 1 k h; tile_positions N 1 r+1 t*k*h; "
     "tiles N 2 r+1 t*h; norms N 1 4*h 1"},
};

}  // namespace

std::span<const Tower> audio_towers() { return kTowers; }

}  // namespace kvbudget::models
