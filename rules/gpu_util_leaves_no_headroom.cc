#include <algorithm>
#include <cmath>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// From here on the share is reported on every card: the start check compares it with the memory
// that is free, and one more process, a driver or a display is enough to miss it.
constexpr double kAlwaysTooHigh = 0.97;
// What fragmentation takes over hours of service; public notes speak of a few hundred MiB.
constexpr uint64_t kFragmentationBytes = memory::kGiB / 4;

void propose(const Deployment& d, uint64_t wanted_bytes, Diagnostic& finding) {
  const double total = static_cast<double>(d.estimate->total_bytes);
  const double share =
      std::floor((total - static_cast<double>(wanted_bytes)) / total * 100.0) / 100.0;
  if (share < 0.5) return;
  const std::string text = memory::decimal_text(std::min(share, 0.95), 2);
  propose_value(d, "gpu-memory-utilization", text, finding);
}

void check(const Deployment& d, Reporter& reporter) {
  // A cache of fixed size ignores the share; the engine's own defaults are not this file's fault.
  if (!d.settings.has("gpu-memory-utilization") || d.engine.kv_cache_memory_bytes) return;
  // Without an estimate there is no telling what else is needed, and a start that fails has its own
  // finding.
  if (!d.estimate) return;
  const memory::Estimate& e = *d.estimate;
  const bool named_here = rule_of_obstacle(d) == "KVB106";
  if (e.obstacle != memory::Obstacle::kNone && !named_here) return;
  const uint64_t left = left_beside_budget(d);
  const uint64_t wanted = memory::add(e.outside.best, kFragmentationBytes);
  if (!named_here && left >= wanted && d.engine.gpu_memory_utilization < kAlwaysTooHigh) return;
  Diagnostic& finding = reporter.report(
      d.where_of("gpu-memory-utilization"),
      "gpu-memory-utilization " + memory::decimal_text(d.engine.gpu_memory_utilization, 3) +
          " leaves " + memory::gib_text(left) + " of " + d.gpu->name +
          " outside the engine's budget; CUDA contexts" +
          (e.term("cuda_graphs")->in_budget ? "" : ", CUDA graphs") +
          " and fragmentation need about " + memory::gib_text(wanted) +
          (named_here && left >= wanted ? ", at worst " + memory::gib_text(e.outside.high) : ""));
  if (named_here || left < wanted) {
    propose(d, named_here ? std::max(wanted, e.outside.high) : wanted, finding);
  } else {
    finding.notes.push_back({"the engine starts only if all but this is free when it does", {}});
  }
}

}  // namespace

extern const Rule gpu_util_leaves_no_headroom_rule;
const Rule gpu_util_leaves_no_headroom_rule = {
    .id = "KVB106",
    .name = "gpu-util-leaves-no-headroom",
    .severity = Severity::kWarning,
    .summary =
        "gpu-memory-utilization leaves too little for what the engine takes beside its budget",
    .doc = R"md(
## What it does
Looks at the part of the GPU that `gpu-memory-utilization` leaves outside the engine's budget.

## Why it matters
CUDA contexts, communication buffers, captured graphs (up to 0.19) and fragmentation live there. When it is too
small the engine refuses to start ("Free memory on device … is less than desired GPU memory utilization") or dies
of "CUDA out of memory" while it captures graphs, or hours later under load.

## How it is computed
In bytes, not as a share: 0.95 of an H200 leaves 7 GiB and is fine, 0.95 of an L4 leaves 1.1. What is needed is the
CUDA context of each process, the graphs where that version does not count them in, and 0.25 GiB for
fragmentation. From 0.97 on it is always reported.

## Fix
The utilisation that leaves what is needed. `enforce-eager` is no cure: it trades speed for the graphs' memory.

## Since which engine version
All; graphs are inside the budget from 0.20.

## References
vllm/v1/worker/utils.py, `request_memory`; vLLM issues 11251, 13267, 49224, 57475.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-4090}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --gpu-memory-utilization=0.98  # expect: KVB106
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-4090}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --gpu-memory-utilization=0.92
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
