// Wrappers: the classes in vllm/model_executor/models that build their language model from a part
// of the config (0.8 to 0.33).
#include "lint/models/multimodal.h"

#include <array>

namespace kvbudget::models {
namespace {

struct Wrapper {
  std::string_view architectures;
  std::string_view text_key;    ///< where the decoder's config is; the root when it is not there
  std::string_view model_type;  ///< of the decoder, when its config does not say
};

constexpr std::array kWrappers = {
    Wrapper{"Gemma3ForConditionalGeneration", "text_config", "gemma3_text"},
    Wrapper{"Gemma4ForConditionalGeneration", "text_config", "gemma4_text"},
    Wrapper{"Mistral3ForConditionalGeneration|LightOnOCRForConditionalGeneration", "text_config",
            "mistral"},
    Wrapper{"LlavaForConditionalGeneration|LlavaNextForConditionalGeneration|"
            "LlavaOnevisionForConditionalGeneration|LlavaNextVideoForConditionalGeneration",
            "text_config", "llama"},
    Wrapper{"Idefics3ForConditionalGeneration|SmolVLMForConditionalGeneration", "text_config",
            "llama"},
    Wrapper{"Qwen2VLForConditionalGeneration|Qwen2_5_VLForConditionalGeneration", "text_config",
            "qwen2"},
    Wrapper{"Qwen3VLForConditionalGeneration", "text_config", "qwen3"},
    Wrapper{"Qwen3VLMoeForConditionalGeneration", "text_config", "qwen3_moe"},
    Wrapper{"Qwen3_5ForConditionalGeneration", "text_config", "qwen3_5_text"},
    Wrapper{"Qwen3_5MoeForConditionalGeneration", "text_config", "qwen3_5_moe_text"},
    Wrapper{"Llama4ForConditionalGeneration", "text_config", "llama4_text"},
    Wrapper{"KimiVLForConditionalGeneration|KimiK25ForConditionalGeneration", "text_config",
            "deepseek_v3"},
    Wrapper{"KimiK3ForConditionalGeneration", "text_config", "kimi_linear"},
    Wrapper{"InternVLForConditionalGeneration", "text_config", "qwen2"},
    Wrapper{"Glm4vForConditionalGeneration", "text_config", "glm4"},
    Wrapper{"Glm4vMoeForConditionalGeneration", "text_config", "glm4_moe"},
    Wrapper{"Lfm2VlForConditionalGeneration", "text_config", "lfm2"},
    Wrapper{"Exaone4_5_ForConditionalGeneration", "text_config", "exaone4"},
};

const Wrapper* find_wrapper(std::string_view architecture) {
  for (const Wrapper& wrapper : kWrappers) {
    if (listed(wrapper.architectures, architecture)) return &wrapper;
  }
  return nullptr;
}

}  // namespace

std::optional<TextPart> find_text_part(const Config& root, std::string_view architecture) {
  const Wrapper* wrapper = find_wrapper(architecture);
  if (wrapper == nullptr) return std::nullopt;
  const auto nested = root.nested(wrapper->text_key);
  TextPart part{nested.value_or(root), nullptr, ""};
  if (nested) {
    const std::vector<std::string> names = nested->texts("architectures");
    if (!names.empty()) part.name = names.front();
    part.family = part.name.empty() ? nullptr : find_family(part.name, "");
    if (part.family != nullptr) return part;
    // Some parts keep the name of a training-time class; their model type decides.
    const std::string type = nested->text("model_type");
    if (!type.empty()) {
      part.name = type;
      part.family = find_family("", type);
      return part;
    }
  }
  part.name = std::string(wrapper->model_type);
  part.family = find_family("", wrapper->model_type);
  return part;
}

}  // namespace kvbudget::models
