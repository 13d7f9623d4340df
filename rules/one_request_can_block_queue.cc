#include <algorithm>
#include <iterator>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

constexpr uint64_t kSlackShare = 50;
constexpr uint64_t kStep = 1024;  // tokens; lengths to propose
constexpr std::string_view kSliding[] = {"sliding", "sliding_mla", "chunked"};

bool keeps_a_window(const memory::CacheGroup& group) {
  return std::find(std::begin(kSliding), std::end(kSliding), group.kind) != std::end(kSliding);
}

// The admission gate of 0.19.0 to 0.20.1 wants blocks for the whole prompt in every group, though a
// window needs few of them at a time: KVCacheManager.can_fit_full_sequence, capped from 0.20.2
// (vllm-project/vllm 41282).
bool counts_whole_windows(const Deployment& d) {
  const bool gate = d.version >= Version{0, 19, 0} && d.version < Version{0, 20, 2};
  const Setting* reserve = d.settings.find("scheduler-reserve-full-isl");
  return gate && (reserve == nullptr || reserve->value != "false");
}

uint64_t blocks_of(const memory::Estimate& e, uint64_t tokens) {
  uint64_t blocks = 0;
  for (const memory::CacheGroup& group : e.groups) {
    blocks += group.kind == "mamba" ? 1 : memory::ceil_div(tokens, group.block_tokens);
  }
  return blocks;
}

// The longest prompt that is ever admitted.
uint64_t longest_admitted(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  uint64_t longest = e.best.longest_request;
  if (!counts_whole_windows(d)) return longest;
  if (std::none_of(e.groups.begin(), e.groups.end(), keeps_a_window)) return longest;
  uint64_t refused = std::min(longest, e.max_model_len) + 1;
  uint64_t admitted = 0;
  while (refused - admitted > 1) {
    const uint64_t middle = admitted + (refused - admitted) / 2;
    (blocks_of(e, middle) < e.best.num_blocks ? admitted : refused) = middle;
  }
  return admitted;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || d.estimate->obstacle_certain || !d.estimate->best.holds_one_request) return;
  if (d.engine.num_gpu_blocks_override || d.engine.v0_engine) return;
  const memory::Estimate& e = *d.estimate;
  // A block more or less: auto-fit itself does not count the null block in every release.
  const uint64_t slack = e.max_model_len / kSlackShare;
  const uint64_t longest = longest_admitted(d);
  if (memory::add(longest, slack) >= e.max_model_len) return;
  Diagnostic& finding = reporter.report(
      d.where_of("max-model-len"),
      "the engine starts with max-model-len " + memory::with_commas(e.max_model_len) +
          ", but its cache admits no request above about " + memory::with_commas(longest) +
          " tokens; a longer one stops the queue until its client gives up");
  suggest_value(d, "max-model-len", std::to_string(longest / kStep * kStep), finding);
  if (counts_whole_windows(d)) {
    finding.notes.push_back(
        {"or --no-scheduler-reserve-full-isl; 0.20.2 counts windows as such", {}});
  }
}

}  // namespace

extern const Rule one_request_can_block_queue_rule;
const Rule one_request_can_block_queue_rule = {
    .id = "KVB119",
    .name = "one-request-can-block-queue",
    .severity = Severity::kWarning,
    .summary = "a request that the start check lets through can never be admitted",
    .doc = R"md(
## What it does
Finds models with several kinds of layers whose longest admissible request is shorter than `max-model-len` although the
engine starts.

## Why it matters
The start check and the scheduler count differently. A prompt between the two is never admitted, and every request
behind it waits.

## How it is computed
From 0.19.0 to 0.20.1 a prompt is admitted only when blocks for all of it are free in every group, sliding windows too.
From 0.14 to 0.18 the check counts only the first group. In both cases: the longest request that the likely number of
blocks holds.

## Fix
The `max-model-len` that is named, `no-scheduler-reserve-full-isl`, or a newer release.

## Since which engine version
0.14 to 0.20.1.

## References
vllm/v1/core/kv_cache_manager.py, `can_fit_full_sequence`; vLLM issues 35541, 39734, 41282, 42381.
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
        - --model=google/gemma-3-4b-it
        - --max-model-len=131072  # expect: KVB119
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
        - --model=google/gemma-3-4b-it
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
