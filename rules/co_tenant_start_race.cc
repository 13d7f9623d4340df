#include <algorithm>
#include <set>

#include "lint/rule.h"
#include "rules/shared_gpus.h"

namespace kvbudget {
namespace {

// Whether `later` waits, by way of other engines perhaps, until `sooner` is healthy.
bool waits_for(std::span<const Deployment> deployments, const Deployment& later,
               const Deployment& sooner) {
  std::set<std::string> waited;
  std::vector<std::string> open = later.start.around->starts_after_healthy;
  while (!open.empty()) {
    const std::string service = open.back();
    open.pop_back();
    if (!waited.insert(service).second) continue;
    for (const Deployment& d : deployments) {
      if (d.start.around == nullptr || d.start.name != "service " + service) continue;
      if (&d == &sooner) return true;
      const std::vector<std::string>& more = d.start.around->starts_after_healthy;
      open.insert(open.end(), more.begin(), more.end());
    }
  }
  return false;
}

bool sizes_its_cache(const Deployment& d) {
  return d.engine.kv_cache_memory_bytes || d.engine.num_gpu_blocks_override ||
         d.settings.has("kv-cache-memory-bytes");
}

// The first two engines of the GPU that nothing puts in order.
std::vector<size_t> racing(std::span<const Deployment> deployments, const SharedGpu& shared) {
  for (const size_t b : shared.engines) {
    for (const size_t a : shared.engines) {
      if (a >= b) break;
      const Deployment& first = deployments[a];
      const Deployment& second = deployments[b];
      if (sizes_its_cache(first) && sizes_its_cache(second)) continue;
      const bool ordered =
          waits_for(deployments, first, second) || waits_for(deployments, second, first);
      if (!ordered) return {a, b};
    }
  }
  return {};
}

void check(const Neighbours& all, Reporter& reporter) {
  for (const SharedGpu& shared : shared_gpus(all.deployments)) {
    const std::vector<size_t> pair = racing(all.deployments, shared);
    if (pair.empty()) continue;
    const Deployment& later = all.deployments[pair.back()];
    reporter.about(all.first + static_cast<int>(pair.back()));
    Diagnostic& finding =
        reporter.report(later.start.where,
                        names_of(all.deployments, pair) + " share GPU " + shared.devices.front() +
                            " and start together; each may count what the other loads as its "
                            "own, or abort when the other frees some");
    finding.notes.push_back(
        {"order them with depends_on and condition: service_healthy, or give "
         "each a kv-cache-memory-bytes",
         {}});
  }
}

}  // namespace

extern const Rule co_tenant_start_race_rule;
const Rule co_tenant_start_race_rule = {
    .id = "KVB115",
    .name = "co-tenant-start-race",
    .severity = Severity::kWarning,
    .summary = "engines on one GPU start at the same time",
    .doc = R"md(
## What it does
Finds Compose services that share a GPU and that no `depends_on` with `condition: service_healthy` puts in order.

## Why it matters
An engine measures the GPU's free memory before and after its profile run. What a neighbour loads in between counts
as its own, so that its KV cache shrinks or the start fails; what a neighbour frees trips an assertion. It works on
one day and fails on the next.

## How it is computed
GPUs are shared as for KVB105, whatever the sum of `gpu-memory-utilization`. Engines whose caches are all of a fixed
size do not race.

## Fix
A health condition, or `kv-cache-memory-bytes` for each.

## Since which engine version
All.

## References
vllm/utils/mem_utils.py, `memory_profiling`; vLLM issues 10643, 18974, 55169, 55827, 56830.
)md",
    .bad = R"yaml(
# options: --gpu L4 --engine vllm@0.19.0
services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=Qwen/Qwen2.5-3B-Instruct", "--max-model-len=8192", "--gpu-memory-utilization=0.6"]
    environment: {CUDA_VISIBLE_DEVICES: "0"}
    volumes: ["models:/root/.cache/huggingface"]
  code:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=Qwen/Qwen2.5-1.5B-Instruct", "--max-model-len=8192", "--gpu-memory-utilization=0.35"]  # expect: KVB115
    environment: {CUDA_VISIBLE_DEVICES: "0"}
    volumes: ["models:/root/.cache/huggingface"]
)yaml",
    .good = R"yaml(
# options: --gpu L4 --engine vllm@0.19.0
services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=Qwen/Qwen2.5-3B-Instruct", "--max-model-len=8192", "--gpu-memory-utilization=0.6"]
    environment: {CUDA_VISIBLE_DEVICES: "0"}
    volumes: ["models:/root/.cache/huggingface"]
  code:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=Qwen/Qwen2.5-1.5B-Instruct", "--max-model-len=8192", "--gpu-memory-utilization=0.35"]
    environment: {CUDA_VISIBLE_DEVICES: "0"}
    volumes: ["models:/root/.cache/huggingface"]
    depends_on: {chat: {condition: service_healthy}}
)yaml",
    .check_neighbours = &check,
};

}  // namespace kvbudget
