// The classes in vllm/model_executor/models that listen, and those that encode their input with one
// model and decode with another (0.6 to 0.32); wrapper.h says how to read the texts.
#include "lint/models/wrapper.h"

namespace kvbudget::models {
namespace {

// A Q-Former looks at windows of the encoder's output.
constexpr TowerUse kGraniteSpeech{
    .part = "encoder_config",
    .tower = "granite_speech_encoder",
    .sizes =
        "H=^projector_config.hidden_size:768 N=^projector_config.num_hidden_layers:12 "
        "I=^projector_config.intermediate_size:3072 "
        "E=^projector_config.encoder_hidden_size:1408 "
        "F=^projector_config.cross_attention_frequency:2 C=:[(N+F-1)/F] "
        "W=^window_size:15 D=^downsample_rate:5",
    .projector =
        "query N 1 [W/D] H; norm N 1 2*H 1; attn N N 4*H H+1; up N N I H+1; "
        "down N N H I+1; norms N N 4*H 1; cross.q N C 2*H H+1; cross.kv N C 2*H E+1; "
        "cross.norm N C 2*H 1; linear N 1 o H+1"};
// Either two matrices around an activation that halves its input, or more layers like the
// encoder's.
constexpr TowerUse kUltravox{
    .part = "audio_config",
    .tower = "whisper",
    .sizes =
        "S=^stack_factor:8 H=^hidden_size:4096 M=^projector_ln_mid:0 "
        "N=^num_projector_layers:0 L=:N>0",
    .projector =
        "norm_in N 1 S*h 1; linear_1 N 1-L H S*h; norm N 1-L M?H/2:o 1; "
        "linear_2 N 1-L o H/2; linear_in N L h S*h+1; positions N L k h; "
        "attn.qkv R N 3*h h+1; attn.proj C N h h; mlp.up R N i h+1; mlp.down C N h i; "
        "rest N N 6*h 1; norm_out N L h 1; linear_out N L o h+1"};

constexpr Wrapper kWrappers[] = {
    {"WhisperForConditionalGeneration", "", "whisper", {}, {.tower = "whisper"}},
    {"BartForConditionalGeneration|BartModel", "", "bart", {}, {.tower = "bart_encoder"}},
    {"MBartForConditionalGeneration", "", "mbart", {}, {.tower = "bart_encoder"}},
    {"MllamaForConditionalGeneration",
     "text_config",
     "mllama_text_model",
     {.part = "vision_config", .tower = "mllama_vision_model", .projector = "projector R 1 o x+1"}},
    {"Qwen2AudioForConditionalGeneration",
     "text_config",
     "qwen2",
     {},
     {.part = "audio_config", .tower = "qwen2_audio_encoder", .projector = "projector N 1 o h+1"}},
    {"AudioFlamingo3ForConditionalGeneration|MusicFlamingoForConditionalGeneration",
     "text_config",
     "qwen2",
     {},
     {.part = "audio_config",
      .tower = "audioflamingo3_encoder",
      .sizes = "B=^projector_bias:1",
      .projector = "linear_1 N 1 o h+B; linear_2 N 1 o o+B"}},
    {"VoxtralForConditionalGeneration",
     "text_config",
     "llama",
     {},
     {.part = "audio_config",
      .tower = "voxtral_encoder",
      .projector = "w_in N 1 o 4*h; w_out N 1 o o"}},
    {"GlmAsrForConditionalGeneration",
     "text_config",
     "llama",
     {},
     {.part = "audio_config",
      .tower = "glmasr_encoder",
      .projector = "linear_1 R 1 2*o i+1; linear_2 C 1 o 2*o+1"}},
    {"GraniteSpeechForConditionalGeneration", "text_config", "granite", {}, kGraniteSpeech},
    {"UltravoxModel", "text_config", "llama", {}, kUltravox},
    {"MossTranscribeDiarizeForConditionalGeneration",
     "text_config",
     "qwen3",
     {},
     {.part = "audio_config",
      .tower = "whisper_large",
      .sizes = "A=^adaptor_input_dim",
      .projector = "linear_1 N 1 o A+1; linear_2 N 1 o o+1; norm N 1 2*o 1"}},
    // Its Whisper is always that of the checkpoint's folder whisper-large-v3.
    {"MoonshotKimiaForCausalLM",
     "",
     "qwen2",
     {},
     {.tower = "whisper_large",
      .sizes = "h=:1280 i=:5120 n=:32 c=:128 k=:1500 A=kimia_adaptor_input_dim:5120",
      .projector = "linear_1 N 1 o A+1; linear_2 N 1 o o+1; norm N 1 2*o 1"}},
    {"MiDashengLMModel",
     "text_config",
     "qwen2_5_omni_text",
     {},
     {.part = "audio_encoder_config",
      .tower = "midashenglm_dasheng_encoder",
      .sizes = "S=^subsample_factor:5",
      .projector = "linear_1 R 1 o S*h+1; linear_2 C 1 o o+1"}},
    // Discrete tokens of sound and images are made elsewhere; the engine has no encoder of sound.
    {"HCXVisionV2ForCausalLM",
     "text_config",
     "llama",
     {.part = "vision_config",
      .tower = "qwen2_5_vl",
      .sizes = "O=:o o=out_hidden_size:h",
      .projector = "projector N 1 O o+1"}},
    {"Qwen2_5OmniModel|Qwen2_5OmniForConditionalGeneration",
     "thinker_config.text_config",
     "qwen2_5_omni_text",
     {.part = "thinker_config.vision_config", .tower = "qwen2_5_vl"},
     {.part = "thinker_config.audio_config", .tower = "qwen2_5_omni_audio_encoder"}},
    {"Qwen3OmniMoeForConditionalGeneration",
     "thinker_config.text_config",
     "qwen3_omni_moe_text",
     {.part = "thinker_config.vision_config", .tower = "qwen3_vl"},
     {.part = "thinker_config.audio_config", .tower = "qwen3_omni_moe_audio_encoder"}},
    {"Qwen3ASRForConditionalGeneration|Qwen3ASRRealtimeGeneration",
     "thinker_config.text_config|text_config",
     "qwen3_asr_text",
     {},
     {.part = "thinker_config.audio_config|audio_config", .tower = "qwen3_asr_encoder"}},
};

}  // namespace

std::span<const Wrapper> audio_wrappers() { return kWrappers; }

}  // namespace kvbudget::models
