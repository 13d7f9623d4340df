// _mark_tower_model and supports_encoder_tp_data of the classes in vllm/model_executor/models
// (0.22 and 0.32).
#include "lint/models/encoder_inputs.h"

#include "lint/models/config.h"

namespace kvbudget::models {
namespace {

constexpr std::string_view kImages =
    "AriaForConditionalGeneration|AyaVisionForConditionalGeneration|"
    "Blip2ForConditionalGeneration|Cohere2VisionForConditionalGeneration|DeepseekOCR2ForCausalLM|"
    "DeepseekOCRForCausalLM|DeepseekVLV2ForCausalLM|DotsOCRForCausalLM|"
    "Eagle2_5_VLForConditionalGeneration|FuyuForCausalLM|Gemma3ForConditionalGeneration|"
    "Gemma3nForConditionalGeneration|Granite4VisionForConditionalGeneration|"
    "IsaacForConditionalGeneration|KimiVLForConditionalGeneration|Lfm2VlForConditionalGeneration|"
    "LightOnOCRForConditionalGeneration|Llama4ForConditionalGeneration|Llama_Nemotron_Nano_VL|"
    "LlavaForConditionalGeneration|LlavaNextForConditionalGeneration|"
    "MantisForConditionalGeneration|"
    "MiniCPMV4_6ForConditionalGeneration|MiniCPMV4_7ForConditionalGeneration|"
    "MiniMaxVL01ForConditionalGeneration|Mistral3ForConditionalGeneration|MolmoForCausalLM|"
    "OpenCUAForConditionalGeneration|Ovis|PaddleOCRVLForConditionalGeneration|"
    "PaliGemmaForConditionalGeneration|Phi3VForCausalLM|Phi4ForCausalLMV|"
    "PixtralForConditionalGeneration|SkyworkR1VChatModel|Step3VLForConditionalGeneration|"
    "Step3p7ForConditionalGeneration|StepVLForConditionalGeneration|"
    "TarsierForConditionalGeneration|UnlimitedOCRForCausalLM";
constexpr std::string_view kBoth =
    "BeeForConditionalGeneration|Cosmos3ForConditionalGeneration|"
    "Ernie4_5_VLMoeForConditionalGeneration|Exaone4_5_ForConditionalGeneration|"
    "Gemma4ForConditionalGeneration|Gemma4UnifiedForConditionalGeneration|"
    "Glm4vForConditionalGeneration|Glm4vMoeForConditionalGeneration|"
    "GlmOcrForConditionalGeneration|H2OVLChatModel|HCXVisionV2ForCausalLM|"
    "InternS1ForConditionalGeneration|"
    "InternS1ProForConditionalGeneration|InternS2PreviewForConditionalGeneration|"
    "InternVLChatModel|InternVLForConditionalGeneration|KeyeForConditionalGeneration|"
    "KeyeVL1_5ForConditionalGeneration|LlavaOnevision2ForConditionalGeneration|"
    "LlavaOnevisionForConditionalGeneration|MiniCPMO|MiniCPMV|Molmo2ForConditionalGeneration|"
    "MiniMaxM3SparseForConditionalGeneration|"
    "MuseGlimmerForConditionalGeneration|NVLM_D|Ovis2_5|Ovis2_6ForCausalLM|Ovis2_6_MoeForCausalLM|"
    "Phi4MMForCausalLM|QianfanOCRForConditionalGeneration|Qwen2VLForConditionalGeneration|"
    "Qwen2_5OmniForConditionalGeneration|Qwen2_5OmniModel|Qwen2_5_VLForConditionalGeneration|"
    "Qwen3OmniMoeForConditionalGeneration|Qwen3VLForConditionalGeneration|"
    "Qwen3VLMoeForConditionalGeneration|Qwen3_5ForConditionalGeneration|"
    "Qwen3_5MoeForConditionalGeneration|RForConditionalGeneration|"
    "Tarsier2ForConditionalGeneration";

constexpr std::string_view kAudio =
    "AudioFlamingo3ForConditionalGeneration|GlmAsrForConditionalGeneration|"
    "GraniteSpeechForConditionalGeneration|MiDashengLMModel|MoonshotKimiaForCausalLM|"
    "MossTranscribeDiarizeForConditionalGeneration|MusicFlamingoForConditionalGeneration|"
    "Qwen2AudioForConditionalGeneration|Qwen3ASRForConditionalGeneration|"
    "Qwen3ASRRealtimeGeneration|UltravoxModel|VoxtralForConditionalGeneration|"
    "WhisperForConditionalGeneration";

constexpr std::string_view kWhole =
    "Cosmos3ForConditionalGeneration|DotsOCRForCausalLM|Eagle2_5_VLForConditionalGeneration|"
    "Exaone4_5_ForConditionalGeneration|Glm4vForConditionalGeneration|"
    "Glm4vMoeForConditionalGeneration|GlmOcrForConditionalGeneration|H2OVLChatModel|"
    "InternS1ProForConditionalGeneration|InternS2PreviewForConditionalGeneration|"
    "InternVLChatModel|IsaacForConditionalGeneration|KimiK25ForConditionalGeneration|"
    "KimiVLForConditionalGeneration|Llama4ForConditionalGeneration|MiniCPMO|MiniCPMV|"
    "MiniCPMV4_6ForConditionalGeneration|MiniCPMV4_7ForConditionalGeneration|"
    "MiniMaxM3SparseForConditionalGeneration|NVLM_D|OpenCUAForConditionalGeneration|"
    "QianfanOCRForConditionalGeneration|"
    "Qwen2VLForConditionalGeneration|Qwen2_5_VLForConditionalGeneration|"
    "Qwen3VLForConditionalGeneration|Qwen3VLMoeForConditionalGeneration|"
    "Qwen3_5ForConditionalGeneration|Qwen3_5MoeForConditionalGeneration|"
    "Step3VLForConditionalGeneration|Step3p7ForConditionalGeneration|"
    "StepVLForConditionalGeneration|Tarsier2ForConditionalGeneration";

}  // namespace

std::string_view vision_inputs(std::string_view architecture) {
  if (listed(kImages, architecture)) return "image";
  if (listed(kBoth, architecture)) return "image,video";
  if (architecture == "LlavaNextVideoForConditionalGeneration") return "video";
  if (architecture == "KimiK25ForConditionalGeneration") return "vision_chunk";
  return architecture == "NemotronH_Nano_VL_V2" ? "image,video,audio" : "";
}

std::string_view audio_inputs(std::string_view architecture) {
  return listed(kAudio, architecture) || !vision_inputs(architecture).empty() ? "audio" : "";
}

bool may_hold_whole_encoders(std::string_view architecture) { return listed(kWhole, architecture); }

}  // namespace kvbudget::models
