#include <algorithm>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = d.start.around.get();
  if (around == nullptr || !uses_gpus(d) || d.engine.v0_engine || d.lacks_gpus()) return;
  const auto& cores = around->cpu_limit ? around->cpu_limit : around->cpu_request;
  const uint64_t gpus = ranks_in_container(d);
  if (!cores || gpus == 0) return;
  const uint64_t per_engine =
      std::max<uint64_t>(uint64_t{d.engine.tensor_parallel} * d.engine.pipeline_parallel, 1);
  const uint64_t engines = std::max<uint64_t>(gpus / per_engine, 1);
  const auto servers = static_cast<uint64_t>(std::clamp<int64_t>(
      d.settings.integer("api-server-count").value_or(static_cast<int64_t>(engines)), 1, 1024));
  const uint64_t busy = servers + engines + gpus + (engines > 1 ? 1 : 0);
  if (cores->value >= 2.0 * static_cast<double>(busy)) return;
  Diagnostic& finding =
      reporter.report(cores->where,
                      std::to_string(busy) + " busy processes (API servers, schedulers, " +
                          std::to_string(gpus) + (gpus == 1 ? " GPU worker" : " GPU workers") +
                          ") share " + memory::decimal_text(cores->value, 2) + " virtual cores",
                      around->cpu_limit ? Severity::kWarning : Severity::kInfo);
  finding.notes.push_back({"request " + std::to_string(2 * busy) + " and set no limit", {}});
}

}  // namespace

extern const Rule cpu_starved_rule;
const Rule cpu_starved_rule = {
    .id = "KVB510",
    .name = "cpu-starved",
    .severity = Severity::kWarning,
    .summary = "fewer CPU cores than the engine has busy processes",
    .doc = R"md(
## What it does
Compares the container's CPU limit, or its request where there is no limit, with the processes that never rest.

## Why it matters
API server, scheduler and every GPU's worker poll in a loop. Where they share cores the scheduler waits for its
turn and the GPU waits for the scheduler.

## How it is computed
2 x (API servers + data-parallel engines + GPUs, and one coordinator with data parallelism) virtual cores: vLLM's
documentation asks for 2 + N physical ones. A request without a limit is an info: the pod may get more.

## Fix
A request of as many cores, and no limit.

## Since which engine version
0.8, where the V1 engine became the default.

## References
vLLM documentation, "Optimization and Tuning", CPU resources.
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192", "--tensor-parallel-size=4"]
      resources:
        limits:
          cpu: "2"  # expect: KVB510
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192", "--tensor-parallel-size=4"]
      resources:
        requests: {cpu: "16"}
        limits: {nvidia.com/gpu: 4}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
