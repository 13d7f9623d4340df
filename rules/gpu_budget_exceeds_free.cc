#include <algorithm>
#include <cmath>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/shared_gpus.h"

namespace kvbudget {
namespace {

// CUDA contexts take at least that share of a card, whoever runs on it.
constexpr double kReserve = 0.02;
constexpr double kRounding = 1e-9;
constexpr Version kStartCheck{0, 9, 1};

double rounded_down(double share) { return std::floor(share * 100.0 + kRounding) / 100.0; }

// Only budgets that the engines really fill and compare with free memory can be added up: not those
// beside a cache of fixed size, not before the start check.
bool adds_up(std::span<const Deployment> deployments, const SharedGpu& shared) {
  return std::all_of(shared.engines.begin(), shared.engines.end(), [&](size_t i) {
    const Deployment& d = deployments[i];
    return !d.engine.kv_cache_memory_bytes && !d.engine.num_gpu_blocks_override &&
           !d.settings.has("kv-cache-memory-bytes") && d.version >= kStartCheck;
  });
}

// Models without a cache leave most of their budget unused until the others start.
bool is_certain(std::span<const Deployment> deployments, const SharedGpu& shared) {
  return std::all_of(shared.engines.begin(), shared.engines.end(), [&](size_t i) {
    const Deployment& d = deployments[i];
    return !d.version_assumed && (d.shape == nullptr || d.shape->generates);
  });
}

void report_sum(const Neighbours& all, const SharedGpu& shared, double sum, Reporter& reporter) {
  std::string list;
  std::string fitting;
  for (const size_t i : shared.engines) {
    const double share = all.deployments[i].engine.gpu_memory_utilization;
    list += (list.empty() ? "" : " + ") + memory::decimal_text(share, 3);
    fitting += (fitting.empty() ? "" : " and ") +
               memory::decimal_text(rounded_down(share * (1.0 - kReserve) / sum), 2);
  }
  const size_t last = shared.engines.back();
  const Deployment& d = all.deployments[last];
  reporter.about(all.first + static_cast<int>(last));
  Diagnostic& finding =
      reporter.report(d.where_of("gpu-memory-utilization"),
                      names_of(all.deployments, shared.engines) + " ask for " + list + " = " +
                          memory::decimal_text(sum, 3) + " of GPU " + shared.devices.front() +
                          "; the one that starts last will refuse to start",
                      is_certain(all.deployments, shared) ? Severity::kError : Severity::kWarning);
  finding.notes.push_back({"gpu-memory-utilization " + fitting + " would fit side by side", {}});
}

void report_alone(const Deployment& d, Reporter& reporter) {
  const memory::Estimate& e = *d.estimate;
  Diagnostic& finding = reporter.report(
      d.where_of("gpu-memory-utilization"),
      "the start check wants gpu-memory-utilization " +
          memory::decimal_text(d.engine.gpu_memory_utilization, 3) + " of " + d.gpu->name + ", " +
          memory::gib_text(memory::requested_bytes(d.engine, e.total_bytes)) + " of " +
          memory::gib_text(e.total_bytes) + ", to be free; CUDA contexts take about " +
          memory::gib_text(e.context.best),
      severity_of(e));
  const double share = static_cast<double>(memory::less(e.total_bytes, e.context.high)) /
                       static_cast<double>(e.total_bytes);
  suggest_value(d, "gpu-memory-utilization",
                memory::decimal_text(std::min(rounded_down(share), 0.95), 2), finding);
}

void check(const Neighbours& all, Reporter& reporter) {
  for (const SharedGpu& shared : shared_gpus(all.deployments)) {
    if (!adds_up(all.deployments, shared)) continue;
    double sum = 0.0;
    for (const size_t i : shared.engines) sum += all.deployments[i].engine.gpu_memory_utilization;
    if (sum > 1.0 - kReserve + kRounding) report_sum(all, shared, sum, reporter);
  }
  for (size_t i = 0; i < all.deployments.size(); ++i) {
    if (rule_of_obstacle(all.deployments[i]) != "KVB105") continue;
    reporter.about(all.first + static_cast<int>(i));
    report_alone(all.deployments[i], reporter);
  }
}

}  // namespace

extern const Rule gpu_budget_exceeds_free_rule;
const Rule gpu_budget_exceeds_free_rule = {
    .id = "KVB105",
    .name = "gpu-budget-exceeds-free",
    .severity = Severity::kError,
    .summary = "more of a GPU is asked for than is free when the engine starts",
    .doc = R"md(
## What it does
Adds up `gpu-memory-utilization` of engines that share a GPU, and compares that of one alone with what is free on an
idle card.

## Why it matters
The engine refuses to start: "Free memory on device … is less than desired GPU memory utilization". With several
engines it hits whichever comes last, so that it moves from one restart to the next.

## How it is computed
Shared are the GPUs that Compose services reserve or see, by `device_ids`, `count` (Docker gives every service the
first ones), NVIDIA_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES; services of different profiles are taken for
alternatives. Two per cent are kept for CUDA contexts. A default counts: 0.9, from 0.20 on 0.92. Alone, what is free
is the card less its CUDA context. A warning when an engine's version is not stated, or its model keeps no KV cache.

## Fix
Shares that add up to 0.98 or less, or the share that leaves room for the context.

## Since which engine version
0.9.1; before, memory of neighbours counted inside the share.

## References
vllm/v1/worker/utils.py, `request_memory`; vLLM issues 2193, 7155, 10643, 19023, 20305, 50135.
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
    command:
      - --model=Qwen/Qwen2.5-1.5B-Instruct
      - --max-model-len=8192
      - --gpu-memory-utilization=0.5  # expect: KVB105
    environment: {CUDA_VISIBLE_DEVICES: "0"}
    volumes: ["models:/root/.cache/huggingface"]
    depends_on: {chat: {condition: service_healthy}}
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
