#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

std::string product_text(const memory::EngineSettings& e, uint64_t ranks) {
  std::string text = "tensor-parallel-size " + std::to_string(e.tensor_parallel);
  if (e.pipeline_parallel > 1)
    text += " x pipeline-parallel-size " + std::to_string(e.pipeline_parallel);
  if (e.prefill_context_parallel > 1) {
    text += " x prefill-context-parallel-size " + std::to_string(e.prefill_context_parallel);
  }
  const uint64_t model = uint64_t{e.tensor_parallel} * e.pipeline_parallel;
  const uint64_t data = ranks / memory::mul(model, std::max(e.prefill_context_parallel, 1U));
  if (data > 1) text += " x data-parallel-size " + std::to_string(data);
  return text;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.lacks_gpus()) return;
  const uint64_t ranks = d.local_ranks();
  const bool slices = d.divides_over_slices();
  constexpr const char* kNames[] = {"tensor-parallel-size", "pipeline-parallel-size",
                                    "data-parallel-size"};
  Location where = d.start.where;
  for (const char* name : kNames) {
    if (d.settings.has(name)) {
      where = d.where_of(name);
      break;
    }
  }
  Diagnostic& finding = reporter.report(
      where, product_text(d.engine, ranks) + " needs " + std::to_string(ranks) + " GPUs, " +
                 (slices ? "of MIG slices a process sees one"
                         : "the engine gets " + std::to_string(d.gpu_count)));
  const uint32_t seen = slices ? 1 : d.gpu_count;
  const bool heads_fit = !d.shape || memory::heads_divide(*d.shape, seen);
  if (ranks == d.engine.tensor_parallel && heads_fit) {
    propose_value(d, "tensor-parallel-size", std::to_string(seen), finding);
  }
  if (d.gpu_count_where)
    finding.notes.push_back({"the number of GPUs is set here", d.gpu_count_where});
}

}  // namespace

extern const Rule world_size_exceeds_gpus_rule;
const Rule world_size_exceeds_gpus_rule = {
    .id = "KVB305",
    .name = "world-size-exceeds-gpus",
    .severity = Severity::kError,
    .summary = "the engine is split over more GPUs than its container gets",
    .doc = R"md(
## What it does
Compares tensor, pipeline, context and local data parallelism with the GPUs of the container.

## Why it matters
vLLM stops ("World size … is larger than the number of available GPUs") or, with Ray, waits for GPUs that never
come.

## How it is computed
The product of the sizes against the container's GPU limit, the compose file's device count or ids, `--gpus`,
the machine type, or `CUDA_VISIBLE_DEVICES` where that is less; times the nodes where a LeaderWorkerSet spans
several. Of MIG slices a process sees one, whatever number the container gets. Silent where the ranks live elsewhere: Ray, headless workers, `--nnodes`.

## Fix
A GPU limit of the product, or smaller sizes.

## Since which engine version
All.

## References
vllm/config/parallel.py; NVIDIA's MIG user guide, "Application Considerations"; vLLM issues 8908, 15217.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=2  # expect: KVB305
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=2
      resources: {limits: {nvidia.com/gpu: 2}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
