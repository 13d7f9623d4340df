// The classes in vllm/model_executor/models that build a language model and encoders from parts of
// one config (0.6 to 0.32), for configs of transformers' own classes and what is close to them;
// wrapper.h says how to read the texts.
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

constexpr std::array kWrappers = {
    Wrapper{"Gemma3ForConditionalGeneration",
            "text_config",
            "gemma3_text",
            {.part = "vision_config", .projector = "norm N 1 h 1; projector N 1 h o"}},
    Wrapper{"MiniMaxM3SparseForConditionalGeneration",
            "text_config",
            "minimax_m3",
            {.part = "vision_config",
             .tower = "minimax_m3_vision",
             .sizes = "x=^projector_hidden_size:o",
             .projector = "linear_1 R 1 x h+1; linear_2 C 1 o x+1; merge.linear_1 R 1 x 4*o+1; "
                          "merge.linear_2 C 1 o x+1"}},
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
    Wrapper{"AriaForConditionalGeneration",
            "text_config",
            "aria_text",
            {.part = "vision_config",
             .sizes = "Q=^max_value_projector_patch_to_query_dict:256",
             .projector = "query N 1 Q h; cross.qkv N 1 3*h h; cross.in N 1 3*h h+1; "
                          "cross.out N 1 h h+1; cross.linear N 1 h h+1; norms N 1 6*h 1; "
                          "mlp.in R 1 o h; mlp.out C 1 o o"}},
    Wrapper{"FuyuForCausalLM", "text_config", "persimmon", {.tower = "fuyu_patches"}},
    Wrapper{"GlmOcrForConditionalGeneration", "text_config", "glm_ocr_text", kPlainVision},
    Wrapper{"MuseGlimmerForConditionalGeneration",
            "text_config",
            "muse_glimmer_text",
            {.part = "vision_config",
             .sizes = "Y=^out_hidden_size|output_dim:6144 "
                      "X=^projector_hidden_size|adapter_dim:4096",
             .projector = "adapter.fc N 1 X Y; adapter.proj N 1 X X; projector N 1 o X"}},
    Wrapper{"PaliGemmaForConditionalGeneration",
            "text_config",
            "gemma",
            {.part = "vision_config",
             .sizes = "P=projection_dim|^projection_dim:o",
             .projector = "projector N 1 P h+1"}},
    Wrapper{"Gemma4UnifiedForConditionalGeneration",
            "text_config",
            "Gemma4ForCausalLM",
            {.part = "vision_config", .tower = "gemma4_unified"},
            {.part = "audio_config", .tower = "gemma4_unified_audio"}},
    Wrapper{
        "InternVLChatModel|H2OVLChatModel|SkyworkR1VChatModel|QianfanOCRForConditionalGeneration|"
        "Eagle2_5_VLForConditionalGeneration",
        "llm_config|text_config", "llama", kInternChat},
    Wrapper{"MiniMaxVL01ForConditionalGeneration", "text_config", "minimax_text_01", kLlava},
    Wrapper{"Blip2ForConditionalGeneration",
            "text_config",
            "opt",
            {.part = "vision_config",
             .sizes = "D=^qformer_config.hidden_size:768 L=^qformer_config.num_hidden_layers:12 "
                      "I=^qformer_config.intermediate_size:3072 Q=^num_query_tokens:32 "
                      "E=^qformer_config.encoder_hidden_size:1408 "
                      "C=^qformer_config.cross_attention_frequency:2 X=:[(L+C-1)/C]",
             .projector = "queries N 1 Q D; self N 4*L D D+1; cross.q N 2*X D D+1; "
                          "cross.kv N 2*X D E+1; up N L I D+1; down N L D I+1; "
                          "norms N 2*L+X+1 2*D 1; projector N 1 o D+1"}},
};

}  // namespace

std::array<std::span<const Wrapper>, 3> wrapper_tables() {
  return {std::span<const Wrapper>(kWrappers), hub_wrappers(), audio_wrappers()};
}

const Wrapper* find_wrapper(const Config& root, std::string_view architecture) {
  for (const std::span<const Wrapper> table : wrapper_tables()) {
    for (const Wrapper& wrapper : table) {
      if (!listed(wrapper.architectures, architecture)) continue;
      Sizes sizes;
      sizes.set('Y', 1.0);
      sizes.read(wrapper.when, root, root);
      if (sizes.evaluate("Y").value_or(0.0) != 0.0) return &wrapper;
    }
  }
  return nullptr;
}

}  // namespace kvbudget::models
