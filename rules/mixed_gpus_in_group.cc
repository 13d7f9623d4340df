#include <algorithm>

#include "lint/memory/format.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

// The card that a name of the affinity means, of a machine too; null for unknown names.
const Gpu* card_of(const std::string& name) {
  if (const Gpu* card = find_gpu(name)) return card;
  const auto instance = find_instance_type(name);
  return instance ? find_gpu(instance->gpu) : nullptr;
}

std::string with_memory(const Gpu& card) {
  return card.name + " (" + memory::gib_text(card.memory_bytes) + ")";
}

void check(const Deployment& d, Reporter& reporter) {
  const auto& choices = d.start.gpu.choices;
  if (d.gpu || choices.size() < 2 || d.start.gpu.chosen_once) return;
  const Gpu* least = nullptr;
  const Gpu* most = nullptr;
  for (const Located<std::string>& choice : choices) {
    const Gpu* card = card_of(choice.value);
    if (card == nullptr) return;
    if (least == nullptr || card->memory_bytes < least->memory_bytes) least = card;
    if (most == nullptr || card->memory_bytes > most->memory_bytes) most = card;
  }
  // Readings of one card differ by a percent or two.
  if (most->memory_bytes - least->memory_bytes < most->memory_bytes / 20) return;
  Diagnostic& finding = reporter.report(
      choices.front().where, "the node affinity lets this engine run on " + with_memory(*least) +
                                 " or " + with_memory(*most) +
                                 "; settings have to fit the smaller, and ranks on both are sized "
                                 "for it");
  finding.notes.push_back(
      {"pin one card, or pass --gpu " + least->name + " to judge the engine", {}});
}

}  // namespace

extern const Rule mixed_gpus_in_group_rule;
const Rule mixed_gpus_in_group_rule = {
    .id = "KVB312",
    .name = "mixed-gpus-in-group",
    .severity = Severity::kWarning,
    .summary = "the engine may run on cards of different memory",
    .doc = R"md(
## What it does
Finds node affinities that leave several cards, or machines with several cards, to choose from.

## Why it matters
The same settings hold on all of them: what fits the larger card ends out of memory on the smaller, what fits the
smaller wastes the larger. Where one engine spans both, all ranks are sized for the smaller.

## How it is computed
The values of the required node affinity on the labels that name cards and machine types. Silent where one of them is
not known, where all have the same memory, and where the card is given otherwise.

## Fix
One value.

## Since which engine version
All.

## References
vLLM issues 34076, 49816.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - key: nvidia.com/gpu.product
                operator: In
                values:
                  - NVIDIA-L4  # expect: KVB312
                  - NVIDIA-L40S
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct  # expect: KVB001
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - key: nvidia.com/gpu.product
                operator: In
                values:
                  - NVIDIA-L4
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
