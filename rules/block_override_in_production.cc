#include "lint/memory/explain.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"

namespace kvbudget {
namespace {

std::string blocks_text(const Deployment& d) {
  return "num-gpu-blocks-override " + memory::with_commas(*d.engine.num_gpu_blocks_override);
}

// kvbudget's own scheduler checks the number that its plan pins.
bool is_planned(const Deployment& d) {
  return d.settings.text("scheduler-cls").find("kvbudget") != std::string::npos;
}

void report_obstacle(const Deployment& d, Reporter& reporter) {
  const memory::Estimate& e = *d.estimate;
  const bool too_few = e.obstacle == memory::Obstacle::kContextTooLong;
  const std::string cache = memory::gib_text(memory::fixed_cache_bytes(d.engine, e));
  reporter.report(
      d.where_of("num-gpu-blocks-override"),
      blocks_text(d) +
          (too_few ? ": " + e.because
                   : " makes a KV cache of " + cache + "; with " + memory::gib_text(e.used.best) +
                         " of weights and activations that is more than the " +
                         memory::gib_text(e.total_bytes) + " of " + d.gpu->name),
      severity_of(e));
}

// Before 0.20 the check looks at the memory that there is, not at the blocks that will be made.
bool report_hang(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || !d.estimate->best.holds_one_request) return false;
  const memory::Estimate& e = *d.estimate;
  const uint64_t longest = e.best.longest_request;
  if (longest >= e.max_model_len) return false;
  reporter.report(d.where_of("num-gpu-blocks-override"),
                  blocks_text(d) + " holds requests of " + memory::with_commas(longest) +
                      " tokens; one of max-model-len " + memory::with_commas(e.max_model_len) +
                      " waits for ever",
                  Severity::kError);
  return true;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.engine.num_gpu_blocks_override || *d.engine.num_gpu_blocks_override == 0) return;
  if (rule_of_obstacle(d) == "KVB117") return report_obstacle(d, reporter);
  if (d.estimate && d.estimate->obstacle_certain) return;
  if (report_hang(d, reporter) || is_planned(d)) return;
  Diagnostic& finding = reporter.report(
      d.where_of("num-gpu-blocks-override"),
      blocks_text(d) + " is a switch for testing preemption; it hides what the GPU has" +
          (d.estimate ? ", here " + memory::with_commas(d.estimate->best.tokens) + " tokens" : ""));
  finding.notes.push_back(
      {"remove it; kv-cache-memory-bytes or gpu-memory-utilization size the cache", {}});
}

}  // namespace

extern const Rule block_override_in_production_rule;
const Rule block_override_in_production_rule = {
    .id = "KVB117",
    .name = "block-override-in-production",
    .severity = Severity::kWarning,
    .summary = "num-gpu-blocks-override, a switch for tests, sizes the KV cache",
    .doc = R"md(
## What it does
Finds `num-gpu-blocks-override`, and says so as an error where the blocks do not hold one request of `max-model-len` or
do not fit the GPU.

## Why it matters
The flag exists to test preemption. Too few blocks and a long request waits for ever, with all behind it; too many and
the engine runs out of memory.

## How it is computed
The blocks that one request of `max-model-len` needs, by the engine's own groups, against the number given less the null
block. The count is exact and needs no estimate.

## Fix
Remove it. `kv-cache-memory-bytes` (from 0.10.2) sizes a cache in bytes.

## Since which engine version
0.4; from 0.20 on the engine refuses too few blocks at start.

## References
vllm/config/cache.py, "Used for testing preemption"; vLLM issues 19023, 35541, 35570.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=32768
        - --num-gpu-blocks-override=512  # expect: KVB117
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
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=32768
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
