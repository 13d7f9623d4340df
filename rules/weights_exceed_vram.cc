#include "lint/memory/format.h"
#include "lint/memory/lora.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

std::string split_text(const memory::EngineSettings& engine) {
  std::string text = "tensor-parallel-size " + std::to_string(engine.tensor_parallel);
  if (engine.pipeline_parallel > 1) {
    text += ", pipeline-parallel-size " + std::to_string(engine.pipeline_parallel);
  }
  return text;
}

void check(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB101") return;
  const memory::Estimate& e = *d.estimate;
  const memory::Interval& weights = e.term("weights")->bytes;
  const bool loads = weights.best <= e.total_bytes;
  Diagnostic& finding = reporter.report(
      d.model_where ? d.model_where : d.start.where,
      "weights need " + memory::gib_text(weights.best) + " per GPU at " + split_text(d.engine) +
          "; " + d.gpu->name + " has " + memory::gib_text(e.total_bytes) +
          (loads ? ", " + memory::gib_text(e.requested_bytes) + " of it for the engine" : ""),
      severity_of(e));
  const uint32_t tp = smallest_tensor_parallel(d);
  if (tp != 0) {
    finding.notes.push_back(
        {"tensor-parallel-size " + std::to_string(tp) + " is the smallest that fits", {}});
  }
  finding.notes.push_back({"a checkpoint quantised to 8 bit has about " +
                               memory::gib_text(weights.best / 2) + ", to 4 bit about " +
                               memory::gib_text(weights.best / 4),
                           {}});
  if (!d.shape->quantization.empty()) finding.notes.pop_back();
  if (const uint64_t slots = memory::lora_bytes(*d.shape, d.engine, e.tightest_stage); slots != 0) {
    finding.notes.push_back({"LoRA slots are " + memory::gib_text(slots) + " of it", {}});
  }
}

}  // namespace

extern const Rule weights_exceed_vram_rule;
const Rule weights_exceed_vram_rule = {
    .id = "KVB101",
    .name = "weights-exceed-vram",
    .severity = Severity::kError,
    .summary = "the model's weights do not fit the GPU",
    .doc = R"md(
## What it does
Compares the weights that each GPU has to hold with the GPU's memory, and with the part of it that
`gpu-memory-utilization` gives to the engine.

## Why it matters
Loading ends with "CUDA out of memory", often after minutes of download, and no memory flag cures it.

## How it is computed
Every tensor of the checkpoint as the engine holds it: divided by tensor parallelism, layers by pipeline stage,
embeddings on the first stage and the output head on the last, scales and zero points of quantised formats,
and what PyTorch's allocator rounds up. `cpu-offload-gb` is taken off. All experts of a mixture count.

## Fix
More GPUs (`tensor-parallel-size`), a quantised checkpoint, or a GPU with more memory.

## Since which engine version
All.

## References
vLLM documentation, "Conserving Memory"; vLLM issues 188, 783, 13267, 31273.
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
        - --model=meta-llama/Llama-3.1-70B-Instruct  # expect: KVB101
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
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
        - --model=meta-llama/Llama-3.1-70B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
