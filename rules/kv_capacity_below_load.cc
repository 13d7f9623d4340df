#include <algorithm>
#include <cmath>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"

namespace kvbudget {
namespace {

constexpr double kFull = 0.9;
constexpr double kHopeless = 2.0;

// A request at the 95th percentile, at the end of its answer.
void add_p95(const Deployment& d, const EngineLoad& load, Diagnostic& finding) {
  const Workload& w = d.workload;
  if (!w.prompt_tokens_p95 && !w.output_tokens_p95) return;
  const double longest = w.prompt_tokens_p95.value_or(*w.prompt_tokens) +
                         w.output_tokens_p95.value_or(w.output_tokens.value_or(0.0));
  const auto tokens = static_cast<uint64_t>(std::max(longest, 1.0));
  const auto held = held_requests(d, tokens, load.shared_prefix);
  finding.notes.push_back({"of requests at the 95th percentile (" + memory::with_commas(tokens) +
                               " tokens) it holds " + count_text(held.best),
                           {}});
}

void add_ways_out(const Deployment& d, const EngineLoad& load, double held, Diagnostic& finding) {
  const bool wide = d.engine.kv_cache_dtype == "auto" || d.engine.kv_cache_dtype == "bfloat16";
  if (wide) finding.notes.push_back({"an 8-bit kv-cache-dtype holds about twice as many", {}});
  const double engines = engine_count(d);
  const double needed = std::ceil(load.concurrency * engines / std::max(kFull * held, 1.0));
  if (needed > engines) {
    finding.notes.push_back({"the load needs " + memory::decimal_text(needed, 0) +
                                 " such engines, here it has " + memory::decimal_text(engines, 0),
                             {}});
  }
}

void check(const Deployment& d, Reporter& reporter) {
  const auto load = engine_load(d);
  if (!load || !has_cache(d)) return;
  const auto held = held_requests(d, load->tokens, load->shared_prefix);
  if (load->concurrency <= kFull * held.best) return;
  const bool waits = d.version >= Version{0, 19, 0};
  Diagnostic& finding = reporter.report(
      d.start.where,
      count_text(load->concurrency) + " requests of about " + memory::with_commas(load->tokens) +
          " tokens at once, the KV cache holds " + count_text(held.best) + " of them; the rest " +
          (waits ? "wait" : "wait, or are preempted and computed again"),
      load->concurrency > kHopeless * held.high ? Severity::kError : Severity::kWarning);
  add_p95(d, *load, finding);
  add_ways_out(d, *load, held.best, finding);
}

}  // namespace

extern const Rule kv_capacity_below_load_rule;
const Rule kv_capacity_below_load_rule = {
    .id = "KVB601",
    .name = "kv-capacity-below-load",
    .severity = Severity::kWarning,
    .summary = "the KV cache does not hold the declared load",
    .doc = R"md(
## What it does
Compares the load that the project declares with the requests that the KV cache holds at once.

## Why it matters
What does not fit waits; in releases before 0.19, which admit a request before its whole prompt fits, it is also
thrown out and computed again, and everything becomes slower.

## How it is computed
A load is declared in `.kvbudget.yaml` (`workload`) or in the annotation `kvbudget.io/workload`:
`concurrency: 32, prompt-tokens: 3000, output-tokens: 500, shared-prefix-tokens: 1200`. It is divided over
replicas and data-parallel engines. A request in the middle of its answer holds prompt + output / 2 tokens, in
whole blocks of each KV cache group; windows hold what they read; a shared prefix is held once where prefix
caching is on. A warning when the load is over 0.9 of what the likely cache holds, an error when it is over twice
what the largest one holds.

## Fix
In this order: an 8-bit `kv-cache-dtype`, more replicas, more `tensor-parallel-size` while there are KV heads to
divide, a lower `max-num-seqs` so that requests wait at the door.

## Since which engine version
All.

## References
vllm/v1/core/sched/scheduler.py; vLLM documentation, "Optimization and Tuning", preemption; vLLM issues 18115,
25538; pull request 37307.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 256, prompt-tokens: 1500, output-tokens: 500"
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct  # expect: KVB601
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 24, prompt-tokens: 1500, output-tokens: 500"
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
