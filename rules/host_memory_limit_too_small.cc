#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

constexpr double kDefaultCacheGib = 4.0;  // mm-processor-cache-gb

uint64_t image_cache_bytes(const Deployment& d) {
  if (!d.shape || !d.shape->multimodal) return 0;
  const double gib = d.settings.real("mm-processor-cache-gb").value_or(kDefaultCacheGib);
  constexpr double kMost = 1e6;
  if (gib <= 0.0 || gib > kMost) return 0;
  const uint64_t engines = std::max(d.engine.data_parallel, 1U);
  return memory::mul(static_cast<uint64_t>(gib * static_cast<double>(memory::kGiB)), engines);
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = d.start.around.get();
  if (around == nullptr || !around->memory_limit_bytes || !uses_gpus(d) || d.lacks_gpus()) return;
  const uint64_t ranks = ranks_in_container(d);
  if (ranks == 0) return;
  HostNeed need = host_memory_need(ranks);
  need.likely = memory::add(need.likely, image_cache_bytes(d));
  const uint64_t limit = around->memory_limit_bytes->value;
  if (limit >= need.likely) return;
  Diagnostic& finding =
      reporter.report(around->memory_limit_bytes->where,
                      "an engine of " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                          " takes about " + memory::gib_text(need.likely) +
                          " of host memory, the limit is " + memory::gib_text(limit),
                      limit < need.least ? Severity::kError : Severity::kWarning);
  finding.notes.push_back({"the container is killed with exit code 137 when it goes beyond", {}});
}

}  // namespace

extern const Rule host_memory_limit_too_small_rule;
const Rule host_memory_limit_too_small_rule = {
    .id = "KVB503",
    .name = "host-memory-limit-too-small",
    .severity = Severity::kError,
    .summary = "the container may use less host memory than the engine takes",
    .doc = R"md(
## What it does
Compares the container's memory limit with what the engine's processes take beside the GPU.

## Why it matters
The kernel kills the container (OOMKilled, exit code 137), most often while it loads weights.

## How it is computed
At least 3 GiB and 1.5 GiB for every rank (API server, scheduler, a process with Python, PyTorch and a CUDA
context each): a limit below that is an error. Usually 4.5 GiB and 2.5 GiB for every rank, and 4 GiB of processed
images where the model takes them (`mm-processor-cache-gb`): a limit below that is a warning. The figures are
judged from reports, not measured. Pages of safetensors files are given back when memory is short and are not
counted; memory for offloading is KVB504's.

## Fix
A limit of at least the usual need, and a request of the same size.

## Since which engine version
All.

## References
vLLM issues 322, 1395, 4462, 4786; vllm/config/multimodal.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  hostIPC: true
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      resources:
        limits:
          memory: 8Gi  # expect: KVB503
          nvidia.com/gpu: 4
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  hostIPC: true
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      resources: {limits: {memory: 64Gi, nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
