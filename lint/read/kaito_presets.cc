// Presets: presets/workspace/models/supported_models.yaml (github.com/kaito-project/kaito, August
// 2026), and two of earlier releases.

#include "lint/read/kaito_presets.h"

#include <algorithm>
#include <array>

namespace kvbudget {
namespace {

struct Preset {
  std::string_view name;
  std::string_view model;
};

constexpr std::array kPresets = {
    Preset{"deepseek-r1-0528", "deepseek-ai/DeepSeek-R1-0528"},
    Preset{"deepseek-r1-distill-llama-8b", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"},
    Preset{"deepseek-r1-distill-qwen-14b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"},
    Preset{"deepseek-v3-0324", "deepseek-ai/DeepSeek-V3-0324"},
    Preset{"falcon-40b", "tiiuae/falcon-40b"},
    Preset{"falcon-40b-instruct", "tiiuae/falcon-40b-instruct"},
    Preset{"falcon-7b", "tiiuae/falcon-7b"},
    Preset{"falcon-7b-instruct", "tiiuae/falcon-7b-instruct"},
    Preset{"gemma-3-27b-instruct", "google/gemma-3-27b-it"},
    Preset{"gemma-3-4b-instruct", "google/gemma-3-4b-it"},
    Preset{"gpt-oss-120b", "openai/gpt-oss-120b"},
    Preset{"gpt-oss-20b", "openai/gpt-oss-20b"},
    Preset{"llama-3.1-8b-instruct", "meta-llama/Llama-3.1-8B-Instruct"},
    Preset{"llama-3.3-70b-instruct", "meta-llama/Llama-3.3-70B-Instruct"},
    Preset{"ministral-3-14b-instruct", "mistralai/Ministral-3-14B-Instruct-2512"},
    Preset{"ministral-3-3b-instruct", "mistralai/Ministral-3-3B-Instruct-2512"},
    Preset{"ministral-3-8b-instruct", "mistralai/Ministral-3-8B-Instruct-2512"},
    Preset{"mistral-7b", "mistralai/Mistral-7B-v0.3"},
    Preset{"mistral-7b-instruct", "mistralai/Mistral-7B-Instruct-v0.3"},
    Preset{"mistral-large-3-675b-instruct", "mistralai/Mistral-Large-3-675B-Instruct-2512"},
    Preset{"phi-2", "microsoft/phi-2"},
    Preset{"phi-3-medium-128k-instruct", "microsoft/Phi-3-medium-128k-instruct"},
    Preset{"phi-3-medium-4k-instruct", "microsoft/Phi-3-medium-4k-instruct"},
    Preset{"phi-3-mini-128k-instruct", "microsoft/Phi-3-mini-128k-instruct"},
    Preset{"phi-3-mini-4k-instruct", "microsoft/Phi-3-mini-4k-instruct"},
    Preset{"phi-3-small-128k-instruct", "microsoft/Phi-3-small-128k-instruct"},
    Preset{"phi-3-small-8k-instruct", "microsoft/Phi-3-small-8k-instruct"},
    Preset{"phi-3.5-mini-instruct", "microsoft/Phi-3.5-mini-instruct"},
    Preset{"phi-4", "microsoft/phi-4"},
    Preset{"phi-4-mini-instruct", "microsoft/Phi-4-mini-instruct"},
    Preset{"qwen2.5-coder-32b-instruct", "Qwen/Qwen2.5-Coder-32B-Instruct"},
    Preset{"qwen2.5-coder-7b-instruct", "Qwen/Qwen2.5-Coder-7B-Instruct"},
};

}  // namespace

std::string_view kaito_preset(std::string_view name) {
  const auto found = std::find_if(kPresets.begin(), kPresets.end(),
                                  [&](const Preset& preset) { return preset.name == name; });
  return found == kPresets.end() ? std::string_view() : found->model;
}

}  // namespace kvbudget
