#include <algorithm>

#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// Tensor-parallel sizes that divide the heads, up to the one that was asked for.
std::string usable_sizes(const memory::ModelShape& model, uint32_t limit) {
  std::string text;
  for (uint32_t size = 1; size <= limit && size <= model.num_heads; ++size) {
    if (!memory::heads_divide(model, size)) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(size);
  }
  return text;
}

uint32_t largest_usable(const memory::ModelShape& model, uint32_t limit) {
  uint32_t size = std::min(limit, model.num_heads);
  while (size > 1 && !memory::heads_divide(model, size)) --size;
  return size;
}

// "40 attention heads", and those for keys and values where they are the trouble.
std::string heads_text(const memory::ModelShape& model, uint32_t tp) {
  std::string text = std::to_string(model.num_heads) + " attention heads";
  if (model.num_heads % tp == 0) {
    text += " with " + std::to_string(model.num_kv_heads) + " for keys and values";
  }
  return text;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.shape || d.shape->num_heads == 0 || d.engine.tensor_parallel == 0) return;
  const uint32_t tp = d.engine.tensor_parallel;
  if (memory::heads_divide(*d.shape, tp)) return;
  Diagnostic& finding =
      reporter.report(d.where_of("tensor-parallel-size"),
                      heads_text(*d.shape, tp) + " cannot be split over tensor-parallel-size " +
                          std::to_string(tp) + "; usable sizes: " + usable_sizes(*d.shape, tp));
  propose_value(d, "tensor-parallel-size", std::to_string(largest_usable(*d.shape, tp)), finding);
  if (tp <= d.shape->num_layers && d.engine.pipeline_parallel == 1) {
    finding.notes.push_back({"for " + std::to_string(tp) + " GPUs, pipeline-parallel-size " +
                                 std::to_string(tp) +
                                 " with tensor-parallel-size 1 divides layers instead",
                             {}});
  }
}

}  // namespace

extern const Rule heads_not_divisible_rule;
const Rule heads_not_divisible_rule = {
    .id = "KVB301",
    .name = "heads-not-divisible",
    .severity = Severity::kError,
    .summary = "tensor-parallel-size does not divide the model's attention heads",
    .doc = R"md(
## What it does
Checks that `tensor-parallel-size` divides the attention heads, and that it divides the key and value heads or is a
multiple of them.

## Why it matters
vLLM stops at once: "Total number of attention heads (40) must be divisible by tensor parallel size (6)".

## How it is computed
`num_attention_heads` and `num_key_value_heads` of config.json (of `text_config` for multimodal models) against
`tensor-parallel-size`. Models with latent attention have one shared head and only the first check.

## Fix
A size that divides the heads; for an odd number of GPUs, `pipeline-parallel-size` divides layers instead.

## Since which engine version
All.

## References
vllm/config/model.py, `verify_with_parallel_config`; vLLM issues 414, 596, 1705, 5951.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-14B-Instruct
        - --tensor-parallel-size=6  # expect: KVB301
      resources: {limits: {nvidia.com/gpu: 6}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-14B-Instruct
        - --tensor-parallel-size=4
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
