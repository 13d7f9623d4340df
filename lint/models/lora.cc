// embedding_modules and packed_modules_mapping of the classes in vllm/model_executor/models (0.9 to
// 0.33); is_3d_moe_weight for experts.
#include "lint/models/lora.h"

#include <array>
#include <string_view>

#include "lint/models/config.h"

namespace kvbudget::models {
namespace {

struct Adapted {
  std::string_view architectures;
  uint32_t since;  ///< minor release
};

// Families whose adapters may change embeddings and head.
constexpr std::array kEmbeddings = {
    Adapted{"LlamaForCausalLM|InternLMForCausalLM|MistralForCausalLM|ArceeForCausalLM|"
            "CohereForCausalLM|Cohere2ForCausalLM|ExaoneForCausalLM|FalconH1ForCausalLM|"
            "GraniteForCausalLM|GraniteMoeForCausalLM|GraniteMoeHybridForCausalLM|"
            "JambaForCausalLM|MiniCPMForCausalLM|MixtralForCausalLM|NemotronForCausalLM|"
            "NemotronHForCausalLM|PhiMoEForCausalLM|BambaForCausalLM|DeciLMForCausalLM|"
            "SolarForCausalLM",
            0},
    Adapted{"ApertusForCausalLM|Exaone4ForCausalLM|Lfm2ForCausalLM|Lfm2MoeForCausalLM", 11},
    Adapted{"ExaoneMoEForCausalLM|ExaoneMoeForCausalLM", 14},
    Adapted{"Qwen3ForCausalLM|Qwen3MoeForCausalLM", 16},
    Adapted{"Qwen3_5ForCausalLM|Qwen3_5MoeForCausalLM", 29},
};

constexpr std::string_view kEmbeddingsOnly = "CohereForCausalLM|Cohere2ForCausalLM";
constexpr std::string_view kOneQkv =
    "Phi3ForCausalLM|GPTBigCodeForCausalLM|ChatGLMModel|BaichuanForCausalLM|QWenLMHeadModel|"
    "InternLM2ForCausalLM|GPT2LMHeadModel|GPTNeoXForCausalLM|FalconForCausalLM|BloomForCausalLM|"
    "MptForCausalLM";
constexpr std::string_view kOneGateUp =
    "Phi3ForCausalLM|ChatGLMModel|GlmForCausalLM|Glm4ForCausalLM";
constexpr std::string_view kExpertsInOne = "GptOssForCausalLM|Qwen3_5MoeForCausalLM";

bool is_among(const Family& family, std::string_view list) {
  return any_part(family.architectures, '|',
                  [&](std::string_view name) { return listed(list, name); });
}

}  // namespace

memory::LoraModules lora_modules(const Family& family) {
  memory::LoraModules modules;
  for (const Adapted& adapted : kEmbeddings) {
    if (is_among(family, adapted.architectures)) modules.embeddings = adapted.since;
  }
  modules.head = !is_among(family, kEmbeddingsOnly);
  modules.one_qkv = is_among(family, kOneQkv);
  modules.one_gate_up = is_among(family, kOneGateUp);
  modules.experts_in_one = is_among(family, kExpertsInOne);
  return modules;
}

}  // namespace kvbudget::models
