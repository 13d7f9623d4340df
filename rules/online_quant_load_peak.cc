#include <algorithm>

#include "lint/memory/format.h"
#include "lint/memory/weights.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

// Layers are created on the device in 16 bit and converted once they are loaded, up to these
// releases: vllm/model_executor/layers/quantization/fp8.py, tensors on "meta" from 0.16 (linear
// layers) and 0.17 (experts).
bool loads_whole(const Deployment& d) {
  const std::string method = d.settings.text("quantization");
  if (method != "fp8" && method != "ptpc_fp8") return false;
  return !d.engine.release.at_least(d.as_stored->num_experts == 0 ? 16 : 17);
}

uint64_t most_on_a_rank(const memory::ModelShape& shape, const memory::EngineSettings& settings) {
  uint64_t bytes = 0;
  for (uint32_t stage = 0; stage < std::max(settings.pipeline_parallel, 1U); ++stage) {
    bytes = std::max(bytes, memory::rank_weight_bytes(shape, settings, stage));
  }
  return bytes;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.as_stored || !d.estimate || d.engine.cpu_offload_gib > 0.0 || !loads_whole(d)) return;
  const memory::Estimate& e = *d.estimate;
  if (e.obstacle == memory::Obstacle::kWeightsExceedBudget) return;
  // Readers hold a few files' worth of tensors too.
  constexpr double kRoom = 0.97;
  const uint64_t before = most_on_a_rank(*d.as_stored, d.engine);
  const double peak = static_cast<double>(memory::add(before, e.context.best));
  if (peak <= kRoom * static_cast<double>(e.total_bytes)) return;
  Diagnostic& finding = reporter.report(
      d.where_of("quantization"), "quantization " + d.settings.text("quantization") +
                                      " converts a 16-bit checkpoint while loading: it ends at " +
                                      memory::gib_text(e.term("weights")->bytes.best) +
                                      " but passes " + memory::gib_text(before) + "; " +
                                      d.gpu->name + " has " + memory::gib_text(e.total_bytes));
  finding.notes.push_back(
      {"a checkpoint that is quantised already loads as it is; one more GPU "
       "divides the peak",
       {}});
}

}  // namespace

extern const Rule online_quant_load_peak_rule;
const Rule online_quant_load_peak_rule = {
    .id = "KVB113",
    .name = "online-quant-load-peak",
    .severity = Severity::kWarning,
    .summary = "a checkpoint that is quantised while it loads may not fit before it has shrunk",
    .doc = R"md(
## What it does
Finds `--quantization fp8` on a 16-bit checkpoint that fits the GPU only once it has been converted.

## Why it matters
All layers are on the GPU in 16 bit before the first is converted. The estimate says that it fits, and loading ends
with "CUDA out of memory".

## How it is computed
The weights of a rank as the checkpoint stores them, with the CUDA context, against 97 % of the GPU. Methods that convert
tensor by tensor (bitsandbytes, experts_int8) and releases that create layers without memory are left out.

## Fix
A checkpoint that is quantised already, more GPUs, or a newer release.

## Since which engine version
Up to 0.15 for dense models, up to 0.16 for mixtures of experts.

## References
vllm/model_executor/layers/quantization/fp8.py; vLLM issues 31273, 31914, 38032.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h200-141gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.15.0
      args:
        - --model=Qwen/Qwen2.5-72B-Instruct
        - --max-model-len=8192
        - --quantization=fp8  # expect: KVB113
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h200-141gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.15.0
      args:
        - --model=Qwen/Qwen2.5-32B-Instruct
        - --max-model-len=8192
        - --quantization=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
