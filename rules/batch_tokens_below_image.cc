#include <algorithm>
#include <array>

#include "lint/memory/activation.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kForced{0, 14, 0};

// ModelConfig.is_mm_prefix_lm: tokens of an image attend to each other in both directions, so the
// platform forces disable-chunked-mm-input.
bool reads_images_whole(const Deployment& d) {
  constexpr std::array<std::string_view, 2> kTypes = {"gemma3", "paligemma"};
  return d.version >= kForced &&
         std::find(kTypes.begin(), kTypes.end(), d.shape->model_type) != kTypes.end();
}

uint64_t next_power_of_two(uint64_t value) {
  uint64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.shape || !d.shape->multimodal || d.settings.opaque_words) return;
  if (!d.engine.vision_encoder || d.shape->encoder.item_tokens == 0 || d.engine.v0_engine) return;
  const bool flag = d.settings.is_true("disable-chunked-mm-input");
  if (!flag && !reads_images_whole(d)) return;
  const uint64_t tokens = d.engine.max_num_batched_tokens;
  const uint64_t item =
      std::max(d.shape->encoder.item_tokens, memory::largest_item(*d.shape, d.engine).tokens);
  const bool stated = d.settings.has("max-num-batched-tokens");
  if (tokens == 0 || tokens >= item || !d.reads("max-num-batched-tokens")) return;
  if (!stated && !d.gpu) return;
  Diagnostic& finding = reporter.report(
      d.where_of(stated ? "max-num-batched-tokens" : "disable-chunked-mm-input"),
      "the largest item of " + d.model + " needs " + memory::with_commas(item) +
          " tokens in one step; max-num-batched-tokens is " + memory::with_commas(tokens),
      exact_severity(d));
  finding.notes.push_back(
      {"smaller items need fewer: mm-processor-kwargs, limit-mm-per-prompt", {}});
  propose_value(d, "max-num-batched-tokens", std::to_string(next_power_of_two(item)), finding);
}

}  // namespace

extern const Rule batch_tokens_below_image_rule;
const Rule batch_tokens_below_image_rule = {
    .id = "KVB408",
    .name = "batch-tokens-below-image",
    .severity = Severity::kError,
    .summary = "a step cannot hold the largest image, which is not divided",
    .doc = R"md(
## What it does
Compares `max-num-batched-tokens` with the tokens of the largest single image or video where items are not divided
over steps: with `disable-chunked-mm-input`, and for models whose images attend to themselves in both directions.

## Why it matters
The engine refuses: "Chunked MM input disabled but max_tokens_per_mm_item (16384) is larger than
max_num_batched_tokens (2048)".

## How it is computed
From the largest item that the model's processor makes, where that is known.

## Fix
More tokens a step, or smaller items.

## Since which engine version
0.8 with the flag; forced for Gemma 3 and PaliGemma from 0.14.

## References
vllm/v1/core/encoder_cache_manager.py, `compute_mm_encoder_budget`; vllm/platforms/cuda.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-VL-7B-Instruct
        - --max-model-len=8192
        - --disable-chunked-mm-input
        - --max-num-batched-tokens=2048  # expect: KVB408
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-VL-7B-Instruct
        - --max-model-len=8192
        - --max-num-batched-tokens=2048
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
