// The classes in vllm/model_executor/models that build a language model and encoders from parts of
// one config (0.6 to 0.32); wrapper.h says how to read the texts.
#include <array>

#include "lint/models/sizes.h"
#include "lint/models/wrapper.h"

namespace kvbudget::models {
namespace {

// LLaVA runs its tower up to a layer before the last: -2 leaves the last one out. Of several layers
// it takes the widest, and puts their outputs side by side.
constexpr TowerUse kLlava{
    .part = "vision_config",
    .sizes =
        "B=^multimodal_projector_bias:1 F=^@vision_feature_layer:-2 n=:F<0?n+F+1:F "
        "K=^#vision_feature_layer:1",
    .projector = "linear_1 R 1 o h*K+B; linear_2 C 1 o o+B; newline N 1 o 1"};
constexpr TowerUse kMistral3{
    .part = "vision_config",
    .sizes = "B=^multimodal_projector_bias:0 M=^spatial_merge_size:2",
    .projector = "norm N 1 h 1; merge N 1 h h*M*M; linear_1 R 1 o h+B; linear_2 C 1 o o+B"};
constexpr TowerUse kPlainVision{.part = "vision_config"};
constexpr TowerUse kQwen3Vision{.part = "vision_config", .sizes = "d=#deepstack_visual_indexes:3"};
constexpr TowerUse kInternChat{
    .part = "vision_config",
    .sizes = "R=^downsample_ratio:0.5 Z=:h/R/R F=^select_layer:-1 n=:F<0?n+F+1:F+1",
    .projector = "norm N 1 2*Z 1; linear_1 N 1 o Z+1; linear_2 N 1 o o+1"};
// MiniCPM-V 4.5 knows when a frame was, for up to 36,000 of them.
constexpr std::string_view kResampler =
    "query N 1 Q o; kv_proj N 1 o h; attn.in N 1 3*o o+1; attn.out N 1 o o+1; norms N 1 6*o 1; "
    "proj N 1 o o; positions N 1 P o; times N K 36000 o";
constexpr TowerUse kMiniCpm{
    .part = "vision_config",
    .tower = "siglip_vision_model",
    .sizes = "Q=^query_num P=:4900 W=^version:0 K=:W=4.5 D=^drop_vision_last_layer:0 n=:n-D",
    .projector = kResampler};

constexpr TowerUse kDeepseekVl{
    .tower = "vit_so400m_patch14_siglip_384",
    .sizes =
        "a=:1 b=:0 q=:1 X=projector_config.input_dim:1152 D=projector_config.downsample_ratio:2 "
        "E=projector_config.mlp_ratio:1 L=projector_config.depth:2",
    .projector = "fc1 N 1 o*E X*D*D+1; mid N L-2 o*E o*E+1; fc2 N 1 o o*E+1; ends N 2 o 1"};
constexpr TowerUse kDeepseekOcr{.sizes = "X=projector_config.input_dim:w",
                                .projector = "projector N 1 o X+1; ends N 2 o 1"};

constexpr std::array kWrappers = {
    Wrapper{"Gemma3ForConditionalGeneration",
            "text_config",
            "gemma3_text",
            {.part = "vision_config", .projector = "norm N 1 h 1; projector N 1 h o"}},
    Wrapper{.architectures = "Gemma3nForConditionalGeneration",
            .text = "text_config",
            .decoder = "gemma3n_text",
            .vision = {.part = "vision_config", .kind = "architecture"},
            .audio = {.part = "audio_config", .tower = "gemma3n_audio"},
            .usual_towers = true},
    Wrapper{"Gemma4ForConditionalGeneration",
            "text_config",
            "gemma4_text",
            kPlainVision,
            {.part = "audio_config", .tower = "gemma4_audio"}},
    Wrapper{"Mistral3ForConditionalGeneration", "text_config", "mistral", kMistral3},
    Wrapper{"LightOnOCRForConditionalGeneration", "text_config", "qwen3", kMistral3},
    Wrapper{"LlavaForConditionalGeneration|LlavaNextForConditionalGeneration|"
            "LlavaNextVideoForConditionalGeneration|MantisForConditionalGeneration|"
            "TarsierForConditionalGeneration",
            "text_config", "llama", kLlava},
    Wrapper{
        "LlavaOnevisionForConditionalGeneration",
        "text_config",
        "qwen2",
        {.part = "vision_config",
         .sizes = "B=^multimodal_projector_bias:1 F=^@vision_feature_layer:-1 n=:F<0?n+F+1:F K=:1",
         .projector = kLlava.projector}},
    Wrapper{"Idefics3ForConditionalGeneration|SmolVLMForConditionalGeneration",
            "text_config",
            "llama",
            {.part = "vision_config",
             .sizes = "M=^scale_factor:2",
             .projector = "projector N 1 o h*M*M"}},
    Wrapper{"Qwen2VLForConditionalGeneration|Qwen2_5_VLForConditionalGeneration|"
            "Tarsier2ForConditionalGeneration",
            "text_config", "qwen2", kPlainVision},
    Wrapper{"Qwen3VLForConditionalGeneration|Cosmos3ForConditionalGeneration", "text_config",
            "qwen3", kQwen3Vision},
    Wrapper{"Qwen3VLMoeForConditionalGeneration", "text_config", "qwen3_moe", kQwen3Vision},
    Wrapper{"Qwen3_5ForConditionalGeneration", "text_config", "qwen3_5_text", kPlainVision},
    Wrapper{"Qwen3_5MoeForConditionalGeneration|InternS2PreviewForConditionalGeneration",
            "text_config", "qwen3_5_moe_text", kPlainVision},
    Wrapper{"Llama4ForConditionalGeneration", "text_config", "llama4_text", kPlainVision},
    Wrapper{"KimiVLForConditionalGeneration|KimiK25ForConditionalGeneration",
            "text_config",
            "deepseek_v3",
            {.part = "vision_config",
             .projector = "norm N 1 2*h 1; linear_1 N 1 z z+1; linear_2 N 1 o z+1"}},
    Wrapper{
        "KimiK3ForConditionalGeneration",
        "text_config",
        "kimi_linear",
        {.part = "vision_config", .projector = "linear_1 N 1 z z; linear_2 N 1 o z; norm N 1 o 1"}},
    Wrapper{"InternVLForConditionalGeneration|InternS1ForConditionalGeneration",
            "text_config",
            "qwen2",
            {.part = "vision_config",
             .sizes = "R=^downsample_ratio:0.5 Z=:h/R/R",
             .projector = kInternChat.projector}},
    Wrapper{"Glm4vForConditionalGeneration", "text_config", "glm4", kPlainVision},
    Wrapper{"Glm4vMoeForConditionalGeneration", "text_config", "glm4_moe", kPlainVision},
    Wrapper{"Lfm2VlForConditionalGeneration",
            "text_config",
            "lfm2",
            {.part = "vision_config",
             .sizes = "M=^downsample_factor:2 X=^projector_hidden_size:2560 B=^projector_bias:1 "
                      "Z=:h*M*M F=^vision_feature_layer:-1 n=:F<0?n+F+1:F",
             .projector = "norm N 1 2*Z 1; linear_1 N 1 X Z+B; linear_2 N 1 o X+B"}},
    Wrapper{"Exaone4_5_ForConditionalGeneration", "text_config", "exaone4", kPlainVision},
    Wrapper{"Phi3VForCausalLM",
            "",
            "phi3",
            {.part = "img_processor",
             .tower = "clip_vit_large_336",
             .sizes = "Z=:4*h",
             .projector = "separators N 2 Z 1; linear_1 N 1 o Z+1; linear_2 N 1 o o+1"}},
    Wrapper{
        "InternVLChatModel|H2OVLChatModel|SkyworkR1VChatModel|QianfanOCRForConditionalGeneration|"
        "Eagle2_5_VLForConditionalGeneration",
        "llm_config|text_config", "llama", kInternChat},
    Wrapper{"AyaVisionForConditionalGeneration",
            "text_config",
            "cohere2",
            {.part = "vision_config",
             .sizes = "M=^downsample_factor:2 X=^alignment_intermediate_size:o Z=:h*M*M "
                      "F=^@vision_feature_layer:-1 n=:F<0?n+F+1:F",
             .projector = "norm N 1 2*Z 1; linear_1 N 1 X Z+1; linear_2 N 1 o [X/2]+1"}},
    Wrapper{"Cohere2VisionForConditionalGeneration",
            "text_config",
            "cohere2",
            {.part = "vision_config",
             .sizes = "M=^downsample_factor:2 X=^alignment_intermediate_size:36864 Z=:h*M*M",
             .projector = "linear_1 R 1 X Z+1; linear_2 C 1 o [X/2]+1"}},
    Wrapper{"Ovis",
            "llm_config|text_config",
            "qwen2",
            {.part = "visual_tokenizer_config.backbone_config",
             .sizes = "M=^visual_tokenizer_config.hidden_stride:1 "
                      "W=^visual_tokenizer_config.vocab_size:16384",
             .projector = "head N 1 W-5 h*M*M; norm N 1 2*(W-5) 1; vte N 1 W o"}},
    Wrapper{"AriaForConditionalGeneration",
            "text_config",
            "aria_text",
            {.part = "vision_config",
             .sizes = "Q=^max_value_projector_patch_to_query_dict:256",
             .projector = "query N 1 Q h; cross.qkv N 1 3*h h; cross.in N 1 3*h h+1; "
                          "cross.out N 1 h h+1; cross.linear N 1 h h+1; norms N 1 6*h 1; "
                          "mlp.in R 1 o h; mlp.out C 1 o o"}},
    Wrapper{"MolmoForCausalLM",
            "",
            "molmo",
            {.tower = "molmo_vit",
             .sizes = "F=intermediate_size",
             .projector = "pool.q R 1 h 2*h+1; pool.kv R 1 2*h 2*h+1; pool.o C 1 h h+1; "
                          "pad N 2 2*h 1; projector.up R 1 F h; projector.down C 1 o [F/2]"}},
    Wrapper{"FuyuForCausalLM", "text_config", "persimmon", {.tower = "fuyu_patches"}},
    Wrapper{"Llama_Nemotron_Nano_VL",
            "llm_config|text_config",
            "llama",
            {.part = "vision_config",
             .kind = "args.model",
             // The checkpoint's own code, which no rank divides.
             .sizes = "a=:1 b=:1 R=^downsample_ratio:0.5 Z=:h/R/R X=^projector_hidden_size:o",
             .projector = "norm N 1 2*Z 1; linear_1 N 1 X Z+1; linear_2 N 1 o X+1"}},
    Wrapper{"Step3VLForConditionalGeneration",
            "text_config",
            "step3_text",
            {.part = "vision_config",
             .tower = "step3_vision_encoder",
             .sizes = "B=^projector_bias:1",
             .projector = "downsample N 1 x 4*h+1; downsample2 N 1 2*x 9*x+1; "
                          "projector N 1 o 2*x+B"}},
    Wrapper{"GlmOcrForConditionalGeneration", "text_config", "glm_ocr_text", kPlainVision},
    Wrapper{"MuseGlimmerForConditionalGeneration",
            "text_config",
            "muse_glimmer_text",
            {.part = "vision_config",
             .sizes = "Y=^out_hidden_size|output_dim:6144 "
                      "X=^projector_hidden_size|adapter_dim:4096",
             .projector = "adapter.fc N 1 X Y; adapter.proj N 1 X X; projector N 1 o X"}},
    Wrapper{"Ernie4_5_VLMoeForConditionalGeneration",
            "text_config",
            "ernie4_5_vl_moe_text",
            {.part = "vision_config",
             .tower = "ernie4_5_vl",
             .sizes = "M=^spatial_conv_size:2 T=^temporal_conv_size:2 U=^use_temporal_conv:1 "
                      "Z=:h*M*M",
             .projector = "spatial R 1 Z Z+1; spatial_2 R 1 Z Z+1; norm N 1 2*Z 1; "
                          "temporal R U Z Z*T+1; temporal_2 R U Z Z+1; mlp R 1 o Z+1"}},
    Wrapper{"ChatGLMModel|ChatGLMForConditionalGeneration|ChatGLMForCausalLM|GLM4VForCausalLM",
            "",
            "chatglm",
            {.part = "vision_config",
             .tower = "eva2_clip",
             .sizes = "F=^ffn_hidden_size",
             .projector = "conv N 1 o 4*h+1; ends N 2 o 1; glu.proj N 1 o o; glu.norm N 1 2*o 1; "
                          "glu.gate_up R 1 2*F o; glu.down C 1 o F"},
            {},
            "S=vision_config.image_size:0 Y=:S>0"},
    Wrapper{"MiniCPMV4_6ForConditionalGeneration|MiniCPMV4_7ForConditionalGeneration",
            "text_config",
            "qwen3_5_text",
            {.part = "vision_config",
             .tower = "siglip_vision_model",
             .sizes = "D=^drop_vision_last_layer:0 n=:n-D Z=:4*h",
             .projector = "merger.attn R 1 3*h h+1; merger.out C 1 h h+1; norms N 1 4*Z+2*h 1; "
                          "merger.fc1 N 1 4*i Z+1; merger.fc2 N 1 h 4*i+1; "
                          "linear_1 N 1 Z Z+1; linear_2 N 1 o Z+1"}},
    // Each generation of MiniCPM-V has another decoder and says so by a number.
    Wrapper{"MiniCPMV", "", "qwen3", kMiniCpm, {}, "W=version:0 Y=:W=4.5"},
    Wrapper{"MiniCPMV", "", "llama", kMiniCpm, {}, "W=version:0 Y=:W=4"},
    Wrapper{"MiniCPMV", "", "qwen2", kMiniCpm, {}, "W=version:0 Y=:W=2.6"},
    Wrapper{"MiniCPMV",
            "",
            "llama",
            kMiniCpm,
            {},
            "W=version:0 H=hidden_size:0 Y=:(W=2.5)+(W=0)*(1-(H=2304))"},
    Wrapper{"MiniCPMV",
            "",
            "minicpm",
            {.tower = "vit_so400m_patch14_siglip_384",
             .sizes = "a=:1 b=:1 q=:0 Q=query_num P=:Q K=:0 D=drop_vision_last_layer:0 n=:n-D",
             .projector = kResampler},
            {},
            "W=version:2 H=hidden_size:0 Y=:(W=2)*(H=2304)"},
    Wrapper{"PaliGemmaForConditionalGeneration",
            "text_config",
            "gemma",
            {.part = "vision_config",
             .sizes = "P=projection_dim|^projection_dim:o",
             .projector = "projector N 1 P h+1"}},
    Wrapper{"NVLM_D",
            "llm_config|text_config",
            "qwen2",
            {.part = "vision_config",
             .sizes = "e=:7 R=^downsample_ratio:0.5 Z=:h/R/R F=^select_layer:-1 n=:F<0?n+F+1:F+1 "
                      "I=^llm_config.intermediate_size|^text_config.intermediate_size",
             .projector = "norm N 1 2*Z 1; linear_1 N 1 I Z; linear_2 N 1 o I"}},
    Wrapper{"DotsOCRForCausalLM",
            "",
            "Qwen2ForCausalLM",
            {.part = "vision_config", .tower = "dots_vit"}},
    Wrapper{"PaddleOCRVLForConditionalGeneration",
            "text_config",
            "Ernie4_5ForCausalLM",
            {.part = "vision_config",
             .tower = "siglip_vision_model",
             .sizes = "M=spatial_merge_size:2 Z=:h*M*M",
             .projector = "norm N 1 2*h 1; linear_1 N 1 Z Z+1; linear_2 N 1 o Z+1"}},
    Wrapper{"KeyeForConditionalGeneration",
            "text_config",
            "Qwen3ForCausalLM",
            {.part = "vision_config",
             .tower = "keye_vit",
             .sizes = "Z=:4*h",
             .projector = "norm N 1 2*h 1; linear_1 R 1 Z Z+1; linear_2 C 1 o Z+1"}},
    Wrapper{"KeyeVL1_5ForConditionalGeneration",
            "text_config",
            "Qwen3ForCausalLM",
            {.part = "vision_config",
             .tower = "keye_vit",
             .sizes = "Z=:4*h",
             .projector = "norm N 1 2*Z 1; linear_1 R 1 Z Z+1; linear_2 C 1 o Z+1"}},
    Wrapper{"HunYuanVLForConditionalGeneration",
            "text_config",
            "HunYuanDenseV1ForCausalLM",
            {.part = "vision_config", .tower = "hunyuan_vit"}},
    Wrapper{"DeepseekVLV2ForCausalLM|deepseek_vl_v2",
            "language_config|text_config",
            "DeepseekV2ForCausalLM",
            kDeepseekVl,
            {},
            "Y=language_config.use_mla:1"},
    Wrapper{"DeepseekVLV2ForCausalLM|deepseek_vl_v2", "language_config|text_config",
            "DeepseekForCausalLM", kDeepseekVl},
    Wrapper{
        "DeepseekOCRForCausalLM|UnlimitedOCRForCausalLM",
        "language_config|text_config",
        "DeepseekForCausalLM",
        {.tower = "deep_encoder", .sizes = kDeepseekOcr.sizes, .projector = kDeepseekOcr.projector},
        {},
        "M=language_config.use_mla:1 Y=:1-M"},
    Wrapper{"DeepseekOCR2ForCausalLM",
            "language_config|text_config",
            "DeepseekForCausalLM",
            {.tower = "deep_encoder_2",
             .sizes = kDeepseekOcr.sizes,
             .projector = kDeepseekOcr.projector},
            {},
            "M=language_config.use_mla:1 Y=:1-M"},
    Wrapper{"Ovis2_5|Ovis2_6ForCausalLM|Ovis2_6_MoeForCausalLM",
            "llm_config|text_config",
            "qwen3",
            {.part = "vit_config",
             .sizes = "M=hidden_stride:2 W=^visual_vocab_size:65536",
             .projector = "head N 1 W-4 h*M*M; norm N 1 2*(W-4) 1; vte N 1 W o"}},
    Wrapper{"Molmo2ForConditionalGeneration",
            "text_config|llm_config",
            "molmo2_text",
            {.part = "vit_config",
             .tower = "molmo2_vit",
             .sizes = "F=^adapter_config.vit_layers:-3 G=^@adapter_config.vit_layers:-9 "
                      "K=^#adapter_config.vit_layers:2 H=^adapter_config.hidden_size:1152 "
                      "J=^adapter_config.intermediate_size:18944 L=:F>G?F:G n=:L<0?n+L+1:L+1",
             .projector = "pool.q R 1 H K*h+1; pool.kv R 1 2*H K*h+1; pool.o C 1 H H+1; "
                          "projector.up R 1 2*J H; projector.down C 1 o J"}},
    Wrapper{"StepVLForConditionalGeneration",
            "text_config",
            "qwen3",
            {.part = "vision_config",
             .tower = "perception_encoder",
             .sizes = "B=^projector_bias:0",
             .projector = "projector R 1 o 4*h+B"}},
    Wrapper{"Step3p7ForConditionalGeneration",
            "text_config",
            "step3p5",
            {.part = "vision_config",
             .tower = "perception_encoder",
             .sizes = "B=^projector_bias:0",
             .projector = "projector R 1 o 4*h+B"}},
    Wrapper{"IsaacForConditionalGeneration",
            "text_config",
            "Qwen3ForCausalLM",
            {.part = "vision_config",
             .tower = "siglip2_vision_model",
             .sizes = "k=^vision_max_num_patches:256 "
                      "M=^pixel_shuffle_scale|pixel_shuffle_scale_factor:1 Z=:h*M*M",
             .projector = "fc1 R 1 4*Z Z; fc2 C 1 o 4*Z"}},
    Wrapper{"BeeForConditionalGeneration",
            "text_config",
            "qwen3",
            {.part = "vision_config",
             .sizes = "F=^@vision_feature_layer:-1 n=:F<0?n+F+1:F",
             .projector = "norm N 1 2*h 1; linear_1 N 1 4*o h+1; linear_2 N 1 o 4*o+1"}},
    Wrapper{"RForConditionalGeneration",
            "text_config",
            "qwen3",
            {.part = "vision_config",
             .sizes = "F=^@vision_feature_layer:-1 n=:F<0?n+F+1:F",
             .projector = "norm N 1 2*h 1; linear_1 N 1 o h+1; linear_2 N 1 o o+1"}},
    Wrapper{"OpenCUAForConditionalGeneration",
            "text_config",
            "Qwen2ForCausalLM",
            {.part = "vision_config", .tower = "qwen2_5_vl"}},
    Wrapper{"MiniMaxVL01ForConditionalGeneration", "text_config", "minimax_text_01", kLlava},
    Wrapper{"QwenVLForConditionalGeneration", "", "qwen", {.part = "visual", .tower = "qwen_vl"}},
    Wrapper{"NemotronH_Nano_VL|NemotronH_Nano_VL_V2",
            "llm_config|text_config",
            "nemotron_h",
            {.part = "vision_config",
             .kind = "args.model",
             .sizes = "R=^downsample_ratio:0.5 Z=:h/R/R X=^projector_hidden_size",
             .projector = "norm N 1 Z 1; linear_1 N 1 X Z; linear_2 N 1 o X"},
            {.part = "sound_config"}},
    Wrapper{"Phi4MMForCausalLM",
            "",
            "Phi3ForCausalLM",
            {.tower = "siglip_so400m_448",
             .projector = "separators N 2 h 1; linear_1 N 1 o h+1; linear_2 N 1 o o+1"},
            {.part = "audio_processor.config",
             .tower = "phi4_conformer",
             .projector = "linear_1 N 2 o d+1; linear_2 N 2 o o+1"}},
    Wrapper{"Gemma4UnifiedForConditionalGeneration",
            "text_config",
            "Gemma4ForCausalLM",
            {.part = "vision_config", .tower = "gemma4_unified"},
            {.part = "audio_config", .tower = "gemma4_unified_audio"}},
};

}  // namespace

std::span<const Wrapper> all_wrappers() { return kWrappers; }

const Wrapper* find_wrapper(const Config& root, std::string_view architecture) {
  for (const Wrapper& wrapper : kWrappers) {
    if (!listed(wrapper.architectures, architecture)) continue;
    Sizes sizes;
    sizes.set('Y', 1.0);
    sizes.read(wrapper.when, root, root);
    if (sizes.evaluate("Y").value_or(0.0) != 0.0) return &wrapper;
  }
  return nullptr;
}

}  // namespace kvbudget::models
