#include <algorithm>
#include <array>

#include "lint/engine/flags.h"
#include "lint/engine/numbers.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// LoRAConfig, 0.3 to 0.10; the parser has the list from 0.11 on.
constexpr std::array<std::string_view, 8> kRanks = {"8",   "16",  "32",  "64",
                                                    "128", "256", "320", "512"};
constexpr Version kStartsLoras{0, 8, 0};
constexpr Version kModalityLoras{0, 10, 0};

std::vector<std::string_view> ranks_of(Version version) {
  std::vector<std::string_view> ranks = flag_choices(*find_flag("max-lora-rank"), version);
  if (ranks.empty()) ranks.assign(kRanks.begin(), kRanks.end());
  return ranks;
}

void check_rank(const Deployment& d, Reporter& reporter) {
  const auto rank = d.settings.integer("max-lora-rank");
  if (!rank) return;
  std::string listed;
  std::string next;
  for (const std::string_view text : ranks_of(d.version)) {
    const auto allowed = python_int(text);
    if (allowed == rank) return;
    if (next.empty() && allowed > rank) next = text;
    listed += (listed.empty() ? "" : ", ") + std::string(text);
  }
  Diagnostic& finding = reporter.report(
      d.where_of("max-lora-rank"),
      "max-lora-rank " + std::to_string(*rank) + " is none of " + listed, exact_severity(d));
  if (!next.empty()) propose_value(d, "max-lora-rank", next, finding);
}

void check_slots(const Deployment& d, Reporter& reporter) {
  const auto cpu = d.settings.integer("max-cpu-loras");
  if (!cpu || *cpu <= 0 || !d.reads("max-loras")) return;
  const int64_t slots = d.settings.integer("max-loras").value_or(1);
  if (*cpu >= slots) return;
  Diagnostic& finding = reporter.report(d.where_of("max-cpu-loras"),
                                        "max-cpu-loras " + std::to_string(*cpu) +
                                            " must be at least max-loras " + std::to_string(slots),
                                        exact_severity(d));
  propose_value(d, "max-cpu-loras", std::to_string(slots), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.settings.opaque_words) return;
  const bool enabled = d.settings.is_true("enable-lora");
  if (enabled) {
    check_rank(d, reporter);
    check_slots(d, reporter);
  } else if (d.settings.has("lora-modules") && !d.settings.has("enable-lora")) {
    reporter.report(d.where_of("lora-modules"),
                    "lora-modules need enable-lora; the adapters cannot be loaded",
                    d.version >= kStartsLoras ? exact_severity(d) : Severity::kWarning);
  }
  if (d.settings.has("default-mm-loras") && d.shape && !d.shape->multimodal &&
      d.version >= kModalityLoras) {
    reporter.report(d.where_of("default-mm-loras"),
                    "default-mm-loras are for multimodal models, and " + d.model + " is none",
                    exact_severity(d));
  }
}

}  // namespace

extern const Rule lora_limits_inconsistent_rule;
const Rule lora_limits_inconsistent_rule = {
    .id = "KVB413",
    .name = "lora-limits-inconsistent",
    .severity = Severity::kError,
    .summary = "limits of LoRA adapters that the engine refuses",
    .doc = R"md(
## What it does
Checks the limits of adapters against each other: ranks that the engine does not know, fewer adapters in the host's
memory than on the card, adapters without `enable-lora`, adapters of modalities on a model of text.

## Why it matters
The engine stops at start: "max_lora_rank (48) must be one of (8, 16, …)", "LoRA is not enabled".

## How it is computed
The checks of the engine's LoRA configuration, with the ranks of its release. The rank of an adapter itself is in its
own files and is not looked at.

## Fix
The next rank that is allowed; `max-cpu-loras` of at least `max-loras`; `enable-lora`.

## Since which engine version
0.3; adapters that fail to load stop the start from 0.8 on.

## References
vllm/config/lora.py; vllm/entrypoints/openai/models/serving.py, `init_static_loras`; vLLM issue 16676.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --enable-lora
        - --max-lora-rank=48  # expect: KVB413
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --enable-lora
        - --max-lora-rank=64
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
