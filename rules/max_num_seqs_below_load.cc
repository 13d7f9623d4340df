#include <algorithm>
#include <cmath>

#include "lint/rule.h"
#include "rules/load.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  const auto load = engine_load(d);
  if (!load || !has_cache(d) || d.engine.max_num_seqs >= load->concurrency) return;
  const double room = std::floor(held_requests(d, load->tokens, load->shared_prefix).low);
  if (room <= d.engine.max_num_seqs) return;
  const double engines = engine_count(d);
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-seqs"), "at most " + count_text(d.engine.max_num_seqs * engines) +
                                      " requests run, " + count_text(load->concurrency * engines) +
                                      " arrive at once; the KV cache has room for " +
                                      count_text(room * engines));
  const auto wanted = static_cast<uint64_t>(std::min(room, std::ceil(load->concurrency)));
  propose_value(d, "max-num-seqs", std::to_string(wanted), finding);
}

}  // namespace

extern const Rule max_num_seqs_below_load_rule;
const Rule max_num_seqs_below_load_rule = {
    .id = "KVB603",
    .name = "max-num-seqs-below-load",
    .severity = Severity::kWarning,
    .summary = "max-num-seqs keeps requests waiting that the GPU has room for",
    .doc = R"md(
## What it does
Compares `max-num-seqs` with the declared load and with what the KV cache holds.

## Why it matters
Small values are copied from advice against memory errors; requests then queue in front of a cache that is half
empty.

## How it is computed
`max-num-seqs` x replicas x data-parallel engines is less than the declared concurrency (KVB601), and even the
smallest cache of the estimate holds more requests of the declared length.

## Fix
As many as the load brings, or as the cache holds.

## Since which engine version
All.

## References
vllm/v1/core/sched/scheduler.py; vLLM issue 16886.
)md",
    .bad = R"yaml(
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
        - --max-num-seqs=4  # expect: KVB603
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
        - --max-num-seqs=64
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
