#include <cmath>

#include "lint/engine/gpu_bandwidth.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"

namespace kvbudget {
namespace {

constexpr double kLongPrompt = 16384.0;
constexpr uint32_t kSmallStep = 2048;
constexpr uint32_t kLargeStep = 16384;
constexpr double kSmooth = 20.0;  // tokens/s: 50 ms between tokens

std::string steps_text(const Deployment& d, double steps) {
  return "a prompt of " + memory::with_commas(static_cast<uint64_t>(*d.workload.prompt_tokens)) +
         " tokens takes " + memory::decimal_text(steps, 0) + " steps of " +
         memory::with_commas(d.engine.max_num_batched_tokens) + " tokens";
}

/// Seconds that the prompt needs at least; 0 when nobody knows.
double least_seconds(const Deployment& d, double steps) {
  const auto bandwidth = memory_bandwidth(*d.gpu);
  if (!bandwidth) return 0.0;
  const uint64_t bytes =
      memory::decode_step_bytes(*d.shape, d.engine, d.engine.max_num_batched_tokens, 0);
  return steps * static_cast<double>(bytes) / *bandwidth;
}

void check(const Deployment& d, Reporter& reporter) {
  const Workload& w = d.workload;
  if (!w.prompt_tokens || !has_cache(d) || d.engine.v0_engine) return;
  const uint32_t step = d.engine.max_num_batched_tokens;
  if (step == 0) return;
  const double steps = std::ceil(*w.prompt_tokens / step);
  const double least = least_seconds(d, steps);
  const Location where = d.where_of("max-num-batched-tokens");
  if (w.ttft_seconds && least > *w.ttft_seconds) {
    reporter.report(where, steps_text(d, steps) + ", at least " + memory::decimal_text(least, 2) +
                               " s; the target is " + memory::decimal_text(*w.ttft_seconds, 2) +
                               " s");
  } else if (step <= kSmallStep && *w.prompt_tokens > kLongPrompt) {
    reporter.report(where,
                    steps_text(d, steps) + "; 8,192 tokens a step are usual for such prompts");
  }
  if (step >= kLargeStep && w.tokens_per_second.value_or(0.0) > kSmooth) {
    reporter.report(where, "answers wait for steps of up to " + memory::with_commas(step) +
                               " tokens of other prompts; the target is " +
                               memory::decimal_text(*w.tokens_per_second, 1) + " tokens/s");
  }
}

}  // namespace

extern const Rule prefill_stall_rule;
const Rule prefill_stall_rule = {
    .id = "KVB605",
    .name = "prefill-stall",
    .severity = Severity::kInfo,
    .summary = "prompts take many steps, or one step holds up the answers of others",
    .doc = R"md(
## What it does
Looks at how `max-num-batched-tokens` cuts the declared prompts into steps.

## Why it matters
A small step makes a long prompt wait for many of them; a large one makes every running answer wait for it.

## How it is computed
From the declared load (KVB601). A step of T tokens reads at least the weights once, so that a prompt takes at
least ceil(prompt / T) times the weights by the card's bandwidth: more than `ttft-seconds` is reported. So are
prompts of more than 16,384 tokens with T of 2,048 or less (the default of smaller cards), and T of 16,384 or more
with a target of more than 20 tokens per second.

## Fix
`max-num-batched-tokens` of 8192 for long prompts, of 2048 to 8192 for smooth answers.

## Since which engine version
0.8, where chunked prefill became the default.

## References
vLLM documentation, "Optimization and Tuning", chunked prefill; vLLM pull request 17885.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 1, prompt-tokens: 20000, output-tokens: 500"
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct  # expect: KVB605
        - --max-model-len=24000
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 1, prompt-tokens: 20000, output-tokens: 500"
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=24000
        - --max-num-batched-tokens=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
