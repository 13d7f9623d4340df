#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

std::string capability_text(const Gpu& gpu) {
  return gpu.name + " (SM " + std::to_string(gpu.capability.major) + "." +
         std::to_string(gpu.capability.minor) + ")";
}

bool is_stated(const Deployment& d) {
  const std::string dtype = d.settings.text("dtype");
  return dtype == "float32" || dtype == "float";
}

void check(const Deployment& d, Reporter& reporter) {
  using memory::ElementType;
  if (d.engine.dtype != ElementType::kFloat32 || !d.estimate) return;
  if (!d.shape->quantization.empty() || d.shape->dtype == ElementType::kFloat32) return;
  const memory::Estimate& e = *d.estimate;
  const bool named_here = rule_of_obstacle(d) == "KVB120";
  if (e.obstacle_certain && !named_here) return;
  const memory::Estimate half = what_if_16_bit(d);
  const bool stated = is_stated(d);
  Diagnostic& finding = reporter.report(
      stated          ? d.where_of("dtype")
      : d.model_where ? d.model_where
                      : d.start.where,
      (stated ? "dtype float32: "
              : capability_text(*d.gpu) + " has no bfloat16 and " + d.shape->model_type +
                    " does not take float16, so that it runs in float32: ") +
          memory::gib_text(e.term("weights")->bytes.best) + " of weights instead of " +
          memory::gib_text(half.term("weights")->bytes.best) + (named_here ? "; " + e.because : ""),
      named_here ? severity_of(e) : Severity::kWarning);
  finding.notes.push_back({stated ? "remove dtype: auto takes the checkpoint's 16-bit type"
                                  : "a GPU of SM 8.0 or later runs it in bfloat16, a quantised "
                                    "checkpoint is smaller",
                           {}});
}

}  // namespace

extern const Rule float32_fallback_doubles_memory_rule;
const Rule float32_fallback_doubles_memory_rule = {
    .id = "KVB120",
    .name = "float32-fallback-doubles-memory",
    .severity = Severity::kWarning,
    .summary = "the model runs in float32, with twice the weights and the KV cache",
    .doc = R"md(
## What it does
Finds models that run in float32: because the file says so, or because the GPU has no bfloat16 and the model is one that
float16 breaks.

## Why it matters
Weights and KV cache double, and nothing in the file shows it. The failure, where it fails, is a plain lack of memory.

## How it is computed
The dtype that the engine's version takes for this GPU and model; the estimate with it and with the checkpoint's own.
An error where the engine certainly fails for that reason alone, else a warning.

## Fix
A GPU of SM 8.0 or later, a quantised checkpoint, or no `dtype`.

## Since which engine version
0.9.1; before, the engine refused such a pair of GPU and model.

## References
vllm/config/model.py, `_FLOAT16_NOT_SUPPORTED_MODELS`; vLLM issue 18751.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=google/gemma-3-4b-it  # expect: KVB120
        - --max-model-len=4096
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
        - --model=google/gemma-3-4b-it
        - --max-model-len=4096
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
