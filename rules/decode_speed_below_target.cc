#include <algorithm>

#include "lint/engine/gpu_bandwidth.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"

namespace kvbudget {
namespace {

constexpr double kReachable = 0.7;  // of the stated bandwidth

void check(const Deployment& d, Reporter& reporter) {
  const auto load = engine_load(d);
  if (!load || !d.workload.tokens_per_second || !has_cache(d)) return;
  const auto bandwidth = memory_bandwidth(*d.gpu);
  if (!bandwidth || d.engine.num_speculative_tokens > 0 || d.engine.cpu_offload_gib > 0.0) return;
  const double batch = std::min(std::max(load->concurrency, 1.0),
                                static_cast<double>(std::max(d.engine.max_num_seqs, 1U)));
  const uint64_t bytes = memory::decode_step_bytes(*d.shape, d.engine, batch, load->tokens);
  if (bytes == 0) return;
  const double bound = kReachable * *bandwidth / static_cast<double>(bytes);
  const double target = *d.workload.tokens_per_second;
  if (target <= bound) return;
  Diagnostic& finding = reporter.report(
      d.start.where, "the memory of " + d.gpu->name + " allows about " +
                         memory::decimal_text(bound, bound < 10.0 ? 1 : 0) +
                         " tokens/s for each of " + count_text(batch) +
                         " requests, the target is " + memory::decimal_text(target, 1));
  finding.notes.push_back({"a step reads " + memory::gib_text(bytes) + " at " +
                               memory::decimal_text(kReachable * *bandwidth / 1e9, 0) + " GB/s",
                           {}});
}

}  // namespace

extern const Rule decode_speed_below_target_rule;
const Rule decode_speed_below_target_rule = {
    .id = "KVB604",
    .name = "decode-speed-below-target",
    .severity = Severity::kWarning,
    .summary = "memory bandwidth does not allow the declared speed of answers",
    .doc = R"md(
## What it does
Compares a declared target of tokens per second with what the card's memory bandwidth allows.

## Why it matters
Each step of decoding reads the weights once and the cache of every running request. No setting makes a card
faster than its memory.

## How it is computed
`tokens-per-second` of the declared load (KVB601), for one request. A step reads the weights of the layers (of
experts those that the batch can be expected to choose) and the growing part of the cache of the requests that
run, on each rank; 0.7 of the bandwidth that the maker states is taken as reachable. Pipeline stages work one
after the other. Communication between cards is not counted, so the bound is a kind one. Silent with speculative
decoding and for cards without a published bandwidth. An estimate, never an error.

## Fix
Quantised weights, an 8-bit `kv-cache-dtype`, more `tensor-parallel-size`, fewer requests for each engine.

## Since which engine version
All.

## References
Bandwidths: lint/engine/data/gpu_bandwidth.tsv, from the makers' data sheets.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 4, prompt-tokens: 1000, output-tokens: 500, tokens-per-second: 80"
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct  # expect: KVB604
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: "concurrency: 4, prompt-tokens: 1000, output-tokens: 500, tokens-per-second: 10"
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
