// Encoders of images and sound, by the model_type of their part of the config; wrapper.h says how
// to read the texts. Facts: the vision and audio classes in vllm/model_executor/models (0.8 to
// 0.32), most of which divide blocks over tensor-parallel ranks and all of which repeat them on
// every pipeline stage; defaults of transformers' configuration classes, or of the code beside a
// checkpoint.
#include <array>

#include "lint/models/wrapper.h"

namespace kvbudget::models {
namespace {

// Sizes: h width, i width of the MLP, n layers, p patch, s image, c colours, t frames of a patch,
// m patches of a side that become one, z = h*m*m.
constexpr std::string_view kSiglipSizes =
    "h=hidden_size:768 i=intermediate_size:3072 n=num_hidden_layers:12 p=patch_size:16 "
    "s=image_size:224 c=num_channels:3 k=num_patches:256";

// RMSNorms, gate and up, no biases.
constexpr std::string_view kGated =
    "attn.qkv R n 3*h h; attn.proj C n h h; mlp.gate_up R n 2*i h; mlp.down C n h i; "
    "norms N n 2*h 1";

// Attention of a heads, padded with e more.
constexpr std::string_view kIntern =
    "attn.qkv R/a+e n 3*h*(a+e)/a h+b; attn.proj C/a+e n h h*(a+e)/a; mlp.up R n i h+1; "
    "mlp.down C n h i; rest N n 8*h+2*k*h 1";
constexpr std::string_view kInternPatches = "patch N 1 h 3*p*p+1; positions N 1 [s/p]*[s/p]+2 h";
constexpr std::string_view kSam =
    "sam.qkv N 12 2304 769; sam.proj N 12 768 769; sam.up N 12 3072 769; sam.down N 12 768 3073; "
    "sam.norms N 12 3072 1; sam.near N 8 54 64; sam.far N 4 254 64; sam.patch N 1 768 769; "
    "sam.positions N 1 4096 768; sam.neck N 1 256 768; sam.neck_2 N 1 256 2308; "
    "sam.down_1 N 1 512 2304; sam.down_2 N 1 u 4608";
constexpr std::string_view kPatches =
    "patch N 1 h c*p*p+1; positions N 1 [s/p]*[s/p] h; post_norm N 1 2*h 1";

constexpr std::array kTowers = {
    Tower{"siglip_vision_model|idefics2_vision|aria_vision_model", kSiglipSizes, kPlain, kPatches},
    Tower{"siglip2_vision_model", kSiglipSizes, kPlain,
          "patch N 1 h c*p*p+1; positions N 1 k h; post_norm N 1 2*h 1"},
    Tower{"idefics3|idefics3_vision|smolvlm_vision",
          "h=hidden_size:1152 i=intermediate_size:3072 n=num_hidden_layers:12 p=patch_size:32 "
          "s=image_size:224 c=num_channels:3",
          kPlain, kPatches},
    Tower{"clip_vision_model",
          "h=hidden_size:768 i=intermediate_size:3072 n=num_hidden_layers:12 p=patch_size:32 "
          "s=image_size:224 c=num_channels:3",
          kPlain,
          "patch N 1 h c*p*p; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h; norms N 1 4*h 1"},
    Tower{"pixtral",
          "h=hidden_size:1024 i=intermediate_size:4096 n=num_hidden_layers:24 p=patch_size:16 "
          "c=num_channels:3",
          kGated, "patch N 1 h c*p*p; norm N 1 h 1"},
    Tower{"qwen2_vl|qwen2_vl_vision",
          "h=embed_dim:1280 n=depth:32 r=mlp_ratio:4 i=:[h*r] p=patch_size:14 "
          "t=temporal_patch_size:2 m=spatial_merge_size:2 c=in_channels|in_chans:3 z=:h*m*m",
          kPlain,
          "patch N 1 h c*t*p*p; merger.norm N 1 2*h 1; merger.fc1 R 1 z z+1; "
          "merger.fc2 C 1 o z+1"},
    Tower{"qwen2_5_vl|qwen2_5_vl_vision|exaone4_5_vision",
          "h=hidden_size:3584 i=intermediate_size:3420 n=depth:32 a=num_heads:16 "
          "g=num_key_value_heads:a p=patch_size:14 t=temporal_patch_size:2 m=spatial_merge_size:2 "
          "c=in_channels|in_chans:3 z=:h*m*m",
          "attn.qkv R n h+2*g*h/a h+1; attn.proj C n h h; mlp.gate_up R n 2*i h+1; "
          "mlp.down C n h i; rest N n 4*h 1",
          "patch N 1 h c*t*p*p; merger.norm N 1 h 1; merger.fc1 R 1 z z+1; merger.fc2 C 1 o z+1"},
    Tower{"qwen3_vl|qwen3_vl_moe|qwen3_vl_vision|qwen3_vl_moe_vision|qwen3_5|qwen3_5_moe|"
          "qwen3_5_vision|qwen3_5_moe_vision",
          "h=hidden_size:1152 i=intermediate_size:4304 n=depth:27 p=patch_size:16 "
          "t=temporal_patch_size:2 m=spatial_merge_size:2 c=in_channels:3 "
          "k=num_position_embeddings:2304 z=:h*m*m d=#deepstack_visual_indexes:0",
          kPlain,
          "patch N 1 h c*t*p*p+1; positions N 1 k h; merger.norm N 1 2*h 1; "
          "deep.norms N d 2*z 1; mergers.fc1 R d+1 z z+1; mergers.fc2 C d+1 o z+1"},
    Tower{"intern_vit_6b",
          "h=hidden_size:3200 i=intermediate_size:12800 n=num_hidden_layers:48 "
          "a=num_attention_heads:25 b=qkv_bias:0 k=qk_normalization:1 p=patch_size:14 "
          "s=image_size:224 e=:0",
          kIntern, kInternPatches},
    Tower{"qianfan_ocr_vision",
          "h=hidden_size:1024 i=intermediate_size:4096 n=num_hidden_layers:24 "
          "a=num_attention_heads:16 b=qkv_bias:1 k=qk_normalization:0 p=patch_size:14 "
          "s=image_size:448 e=:0",
          kIntern, kInternPatches},
    Tower{"internvl_vision",
          "h=hidden_size:1024 i=intermediate_size:4096 n=num_hidden_layers:24 b=attention_bias:0 "
          "k=use_qk_norm:0 p=patch_size:14 s=image_size:448 q=use_absolute_position_embeddings:1",
          "attn.qkv N n 3*h h+b; attn.proj N n h h; mlp.up R n i h+1; mlp.down C n h i; "
          "rest N n 8*h+2*k*h 1",
          "patch N 1 h 3*p*p+1; class N 1 h 1; positions N 1 q*([s/p]*[s/p]+1) h"},
    Tower{"moonvit",
          "h=hidden_size:1152 i=intermediate_size:4304 n=num_hidden_layers:27 p=patch_size:14 "
          "x=init_pos_emb_height:64 y=init_pos_emb_width:64 m=merge_kernel_size:2 z=:h*m*m",
          kPlain, "patch N 1 h 3*p*p+1; positions N 1 x*y h; post_norm N 1 2*h 1"},
    Tower{"kimi_k25|kimi_k25_vision|kimi_k3|kimi_k3_vision",
          "h=vt_hidden_size|hidden_size:1152 i=vt_intermediate_size|intermediate_size:4304 "
          "n=vt_num_hidden_layers|num_hidden_layers:27 p=patch_size:14 x=init_pos_emb_height:64 "
          "y=init_pos_emb_width:64 m=merge_kernel_size:2 z=:h*m*m q=qkv_hidden_size:h "
          "a=attn_bias:1 b=linear_bias:1 e=patch_embed_proj_bias:1",
          "attn.qkv R n 3*q h+a; attn.proj C n h q; mlp.up R n i h+b; mlp.down C n h i; "
          "rest N n (4+a+b)*h 1",
          "patch N 1 h 3*p*p+e; positions N 1 x*y h; post_norm N 1 2*h 1"},
    // The blocks' MLPs are as wide as the output, the merger's as intermediate_size says.
    Tower{"glm4v|glm4v_moe|glm4v_vision|glm4v_moe_vision",
          "h=hidden_size:1536 x=out_hidden_size:4096 i=intermediate_size:13696 n=depth:24 "
          "p=patch_size:14 s=image_size:336 t=temporal_patch_size:2 m=spatial_merge_size:2 "
          "c=in_channels:3",
          "attn.qkv R n 3*h h; attn.proj C n h h; mlp.gate_up R n 2*x h; mlp.down C n h x; "
          "norms N n 2*h 1",
          "patch N 1 h c*t*p*p+1; positions N 1 [s/p]*[s/p] h; norms N 1 2*h 1; "
          "downsample N 1 x h*m*m+1; merger.proj R 1 x x; merger.norm N 1 2*x 1; "
          "merger.gate_up R 1 2*i x; merger.down C 1 x i"},
    Tower{"glm_ocr|glm_ocr_vision",
          "h=hidden_size:1024 x=out_hidden_size:1536 i=intermediate_size:4096 n=depth:24 "
          "a=num_heads:16 p=patch_size:14 t=temporal_patch_size:2 m=spatial_merge_size:2 "
          "c=in_channels:3 y=^text_config.intermediate_size:4096",
          "attn.qkv R n 3*h h+1; attn.proj C n h h; attn.norms N n 2*h/a 1; "
          "mlp.gate_up R n 2*i h+1; mlp.down C n h i; rest N n 4*h 1",
          "patch N 1 h c*t*p*p+1; norm N 1 h 1; downsample N 1 x h*m*m+1; merger.proj R 1 x x; "
          "merger.norm N 1 2*x 1; merger.gate_up R 1 2*y x; merger.down C 1 x y"},
    Tower{"llama4_vision_model",
          "h=hidden_size:768 i=intermediate_size:5632 n=num_hidden_layers:34 p=patch_size:14 "
          "s=image_size:448 c=num_channels:3 x=projector_input_dim:4096 "
          "y=projector_output_dim:4096 z=vision_output_dim:7680 b=multi_modal_projector_bias:0",
          kPlain,
          "patch R 1 h c*p*p; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h; norms N 1 4*h 1; "
          "adapter.fc1 R 1 x i+b; adapter.fc2 C 1 y x; projector R 1 o z"},
    // A class of transformers, which no rank divides.
    Tower{"gemma4_vision",
          "h=hidden_size:768 i=intermediate_size:3072 n=num_hidden_layers:16 "
          "a=num_attention_heads:12 g=num_key_value_heads:12 d=head_dim:64 p=patch_size:16 "
          "k=position_embedding_size:10240",
          "attn.qkv N n (a+2*g)*d h; attn.proj N n h a*d; mlp.gate_up N n 2*i h; "
          "mlp.down N n h i; norms N n 4*h+2*d 1",
          "patch N 1 h 3*p*p; positions N 2 k h; projector N 1 o h"},
    // Conformer layers: two MLPs of 8 square matrices each, attention with relative positions 5, a
    // convolution 3.
    Tower{"minimax_m3_vision",
          "h=hidden_size i=intermediate_size n=num_hidden_layers p=patch_size c=num_channels:3",
          kPlain, "patch N 1 h 2*c*p*p; pre_norm N 1 2*h 1"},
    // Gemma 3n's images go through a convolutional net of 294 million parameters (timm).
    Tower{"mobilenetv5_300m_enc|gemma3n", "h=hidden_size:2048 v=vocab_size:128", "",
          "encoder N 1 294000000 1; embedding N 1 v h; projector C 1 o h"},
    Tower{"gemma3n_audio", "h=hidden_size:1536 n=conf_num_hidden_layers:12 v=vocab_size:128",
          "layers N n 24*h h", "embedding N 1 v h; projector C 1 o h"},
    Tower{"gemma4_audio",
          "h=hidden_size:1024 n=num_hidden_layers:12 x=output_proj_dims:1536 "
          "k=conv_kernel_size:5",
          "layers N n 24*h h; convolution N n h k; norms N n 9*h 1",
          "subsample N 1 1024 h; output N 1 x h+1; projector N 1 o x"},
    Tower{"aimv2",
          "h=hidden_size:1024 i=intermediate_size:2816 n=num_hidden_layers:24 p=patch_size:14 "
          "s=image_size:224 c=num_channels:3 b=qkv_bias:0 k=use_bias:0",
          "attn.qkv R n 3*h h+b; attn.proj C n h h; mlp.gate_up R n 2*i h+k; mlp.down C n h i; "
          "rest N n 2*h+2*k*h 1",
          "patch N 1 h c*p*p+1; positions N 1 [s/p]*[s/p] h; norm N 1 h 1"},
    // openai/clip-vit-large-patch14-336 up to its last layer but one.
    Tower{"clip_vit_large_336", "h=:1024 i=:4096 n=:23 p=:14 s=:336", kPlain,
          "patch N 1 h 3*p*p; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h; norms N 1 2*h 1"},
    // timm's, whose attention no rank divides; with its pooling (q) or without.
    Tower{"vit_so400m_patch14_siglip_384", "h=:1152 i=:4304 n=:27 p=:14 s=:378 a=:1 b=:1 q=:0",
          "attn.qkv R/a n 3*h h+1; attn.proj C/a n h h; mlp.up R/b n i h+1; mlp.down C/b n h i; "
          "rest N n 6*h 1",
          "patch N 1 h 3*p*p+1; positions N 1 [s/p]*[s/p] h; post_norm N 1 2*h 1; "
          "pool.attn N q 4*h h+1; pool.up N q i h+1; pool.down N q h i+1; pool.rest N q 3*h 1"},
    Tower{"siglip_so400m_448", "h=:1152 i=:4304 n=:26 p=:14 s=:448", kPlain,
          "patch N 1 h 3*p*p+1; positions N 1 [s/p]*[s/p] h"},
    Tower{"siglip2_navit",
          "h=hidden_size:1152 i=intermediate_size:4304 n=num_hidden_layers:27 p=patch_size:14 "
          "s=image_size:512 c=num_channels:3 k=num_patches:-1 q=preserve_original_pe:1",
          kPlain, "patch N 1 h c*p*p+1; positions N q k>0?k:[s/p]*[s/p] h; post_norm N 1 2*h 1"},
    Tower{"keye_vit",
          "h=hidden_size i=intermediate_size n=num_hidden_layers p=patch_size:14 "
          "s=image_size:384 c=num_channels:3",
          kPlain, "patch N 1 h c*p*p+1; positions N 1 [s/p]*[s/p]+32768 h; post_norm N 1 2*h 1"},
    Tower{"dots_vit",
          "h=embed_dim:1536 i=intermediate_size:4224 n=num_hidden_layers:42 p=patch_size:14 "
          "c=num_channels:3 m=spatial_merge_size:2 b=use_bias:0 z=:h*m*m",
          "attn.qkv R n 3*h h+b; attn.proj C n h h; mlp.gate_up R n 2*i h+b; mlp.down C n h i; "
          "rest N n 2*h+2*b*h 1",
          "patch N 1 h c*p*p+1; norms N 3 h 1; merger.fc1 R 1 z z+1; merger.fc2 C 1 o z+1"},
    Tower{"hunyuan_vit",
          "h=hidden_size:1152 i=intermediate_size:4304 n=num_hidden_layers:27 p=patch_size:16 "
          "s=max_image_size:2048 c=num_channels:3 m=spatial_merge_size:2 x=out_hidden_size:4096",
          kPlain,
          "patch N 1 h c*p*p+1; positions N 1 [s/p]*[s/p]+1 h; merger.fc1 N 1 2*h h*m*m+1; "
          "merger.fc2 N 1 4*h 2*h+1; merger.out N 1 x 4*h+1; merger.rest N 1 5*h+4*x 1"},
    Tower{"molmo2_vit",
          "h=hidden_size:1152 i=intermediate_size:4304 n=num_hidden_layers:27 "
          "p=image_patch_size:14 k=image_num_pos:577",
          kPlain, "patch N 1 h 3*p*p+1; positions N 1 k h"},
    // Its last convolutions put four places side by side, twice over.
    Tower{"perception_encoder",
          "h=width n=layers r=mlp_ratio i=:[h*r] p=patch_size s=image_size x=use_cls_token:0 "
          "y=use_abs_posemb:1",
          "attn.qkv R n 3*h h+1; attn.proj C n h h; mlp.up R n i h+1; mlp.down C n h i; "
          "rest N n 8*h 1",
          "patch N 1 h 3*p*p; positions N y [s/p]*[s/p]+x h; norms N 1 4*h 1; "
          "downsample N 1 2*h 9*h+1; downsample_2 N 1 4*h 18*h+1"},
    Tower{"qwen_vl", "h=width n=layers r=mlp_ratio i=:[h*r] p=patch_size x=output_dim",
          "attn.qkv N n 3*h h+1; attn.proj N n h h; mlp.up R n i h+1; mlp.down C n h i; "
          "rest N n 6*h 1",
          "patch N 1 h 3*p*p; positions N 1 256 h; norm N 1 2*h 1; pool.query N 2 256 x; "
          "pool.kv N 1 x h; pool.in N 1 3*x x+1; pool.out N 1 x x+1; pool.norms N 1 6*x 1; "
          "proj N 1 x x"},
    // DeepSeek-OCR: SAM's ViT-B, then CLIP's ViT-L or a Qwen2 of half a billion.
    Tower{"deep_encoder", "h=:1024 i=:4096 n=:24 p=:14 s=:224 u=:1024 w=:2048", kPlain, kSam,
          "patch N 1 h 3*p*p; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h; norm N 1 2*h 1"},
    Tower{"deep_encoder_2", "h=:896 i=:4864 n=:24 u=:896 w=:896",
          "attn.q N n h h+1; attn.kv N n 256 h+1; attn.o N n h h; mlp N n 3*i h; norms N n 2*h 1",
          kSam, "queries N 1 400 h; norm N 1 h 1"},
    Tower{"phi4_conformer",
          "d=attention_dim:1024 i=linear_units:1536 n=num_blocks:24 k=kernel_size:3 "
          "e=ext_pw_out_channel:1024 s=depthwise_seperable_out_channel:1024 "
          "x=depthwise_multiplier:1 f=input_size:80 c=nemo_conv_settings.conv_channels:1024",
          "mlp.in N 2*n 2*i d+1; mlp.out N 2*n d i+1; attn N 4*n d d+1; conv.ext N n e d+1; "
          "conv.glu N n 2*e d+2; conv.dw N n d*x k+1; conv.pw N n s d*x+1; norms N n 10*d 1",
          "embed.dw N 3 c 10; embed.pw N 2 c c+1; embed.out N 1 d c*[f/8]+1"},
    // No encoder: patches go into the decoder through one matrix.
    Tower{"gemma4_unified",
          "a=patch_size:16 b=pooling_kernel_size:3 p=model_patch_size:a*b h=mm_embed_dim:3840 "
          "k=mm_posemb_size:1120 x=output_proj_dims:h c=:3*p*p",
          "",
          "norm N 1 2*c 1; patch R 1 h c+1; positions N 1 2*k h; norms N 2 2*h 1; "
          "projector N 1 o x"},
    Tower{"gemma4_unified_audio", "h=audio_embed_dim:640", "", "projector N 1 o h"},
    Tower{"blip_2_vision_model",
          "h=hidden_size:1408 i=intermediate_size:6144 n=num_hidden_layers:39 p=patch_size:14 "
          "s=image_size:224 b=qkv_bias:1",
          "attn.qkv R n 3*h h+b; attn.proj C n h h; mlp.up R n i h+1; mlp.down C n h i; "
          "rest N n 6*h 1",
          "patch N 1 h 3*p*p+1; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h; norm N 1 2*h 1"},
    Tower{"llava_onevision2",
          "h=hidden_size i=intermediate_size n=num_hidden_layers p=patch_size c=num_channels:3 "
          "m=spatial_merge_size:2 z=:h*m*m",
          kPlain, "patch N 1 h c*p*p; norms N 1 4*h 1; merger.fc1 R 1 z z+1; merger.fc2 C 1 o z+1"},
    // A class of transformers, which no rank divides.
    Tower{"whole_whisper_encoder",
          "h=d_model:1024 i=encoder_ffn_dim:4096 n=encoder_layers:24 b=num_mel_bins:80 "
          "s=max_source_positions:1500",
          "attn N n 4*h h; mlp.up N n i h+1; mlp.down N n h i+1; rest N n 7*h 1",
          "conv1 N 1 h 3*b+1; conv2 N 1 h 3*h+1; positions N 1 s h; norm N 1 2*h 1"},
    Tower{"ernie4_5_vl",
          "h=hidden_size|embed_dim:1280 n=depth:32 r=mlp_ratio:4 i=intermediate_size:[h*r] "
          "p=patch_size:14 c=in_channels|in_chans:3",
          kPlain, "patch N 1 h c*p*p; norm N 1 2*h 1"},
    Tower{"eva2_clip",
          "h=hidden_size i=intermediate_size n=num_hidden_layers p=patch_size k=num_positions "
          "c=in_channels:3",
          kPlain, "patch N 1 h c*p*p+1; class N 1 h 1; positions N 1 k h"},
    Tower{"step3_vision_encoder",
          "h=hidden_size:1792 i=intermediate_size:3072 x=output_hidden_size:4096 "
          "n=num_hidden_layers:63 p=patch_size:14 s=image_size:728 c=num_channels:3",
          kPlain, "patch N 1 h c*p*p+1; class N 1 h 1; positions N 1 [s/p]*[s/p]+1 h"},
    Tower{"muse_glimmer_vision",
          "h=hidden_size:1536 i=intermediate_size:8960 n=num_hidden_layers:50 p=patch_size:14 "
          "t=patch_temporal:2 x=pos_emb_height:32 y=pos_emb_width:32 a=num_attention_heads:16",
          "attn.qkv R/a n 3*h h+1; attn.proj C/a n h h; mlp.up N n i h+1; mlp.down N n h i; "
          "rest N n 6*h 1",
          "patch N 1 h 3*t*p*p; positions N 1 x*y h; norms N 1 4*h 1"},
    Tower{"molmo_vit", "h=:1024 i=:4096 n=:23 p=:14 k=:577", kPlain,
          "patch N 1 h 3*p*p; class N 1 h 1; positions N 1 k h; norm N 1 2*h 1"},
    // C-RADIO, by the name of the timm model that it is.
    Tower{"vit_huge_patch16_224",
          "h=:1280 i=:5120 n=:32 a=:16 b=:0 p=:16 s=cpe_max_size|max_resolution:2048",
          "attn.qkv R/a n 3*h h+1; attn.proj C/a n h h; mlp.up R/b n i h+1; mlp.down C/b n h i; "
          "rest N n 6*h 1",
          "patch N 1 h 3*p*p; positions N 1 [s/p]*[s/p] h; tokens N 1 16 h"},
    Tower{"fuyu_patches", "p=patch_size:30 c=num_channels:3", "", "patch R 1 o c*p*p+1"},
};

}  // namespace

std::array<std::span<const Tower>, 2> tower_tables() {
  return {std::span<const Tower>(kTowers), audio_towers()};
}

const Tower* find_tower(std::string_view name) {
  for (const std::span<const Tower> table : tower_tables()) {
    for (const Tower& tower : table) {
      if (listed(tower.names, name)) return &tower;
    }
  }
  return nullptr;
}

}  // namespace kvbudget::models
