#include <algorithm>

#include "lint/memory/engine_model.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"

namespace kvbudget {
namespace {

constexpr int64_t kUsual = 20;  // the default from 0.5
// Logits of every prompt token of a step, and their float32 logarithms.
constexpr uint64_t kEntryBytes = 6;
// vllm/v1/worker/gpu/sample/prompt_logprob.py, runner V2.
constexpr uint64_t kChunk = 1024;

bool asks_for_more(const Deployment& d) {
  const std::optional<int64_t> most = d.settings.integer("max-logprobs");
  return most && (*most == -1 || *most > kUsual);
}

uint64_t spike_bytes(const Deployment& d) {
  uint64_t tokens = std::min<uint64_t>(d.engine.max_num_batched_tokens, d.engine.max_model_len);
  if (memory::runner_of(*d.shape, d.engine) == memory::Runner::kV2) {
    tokens = std::min(tokens, kChunk);
  }
  return memory::mul(kEntryBytes, memory::mul(tokens, d.shape->vocab_size));
}

// What is beside the budget once contexts and graphs are there, and the profile's peak, which is
// free between steps.
uint64_t headroom(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  const memory::Term& graphs = *e.term("cuda_graphs");
  const uint64_t taken = memory::add(e.context.best, graphs.in_budget ? 0 : graphs.bytes.best);
  return memory::add(memory::less(left_beside_budget(d), taken), e.term("activation")->bytes.best);
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || d.engine.v0_engine || !asks_for_more(d)) return;
  if (d.estimate->obstacle != memory::Obstacle::kNone) return;
  const uint64_t spike = spike_bytes(d);
  const uint64_t free = headroom(d);
  if (spike <= free) return;
  Diagnostic& finding =
      reporter.report(d.where_of("max-logprobs"),
                      "a request with prompt_logprobs can take " + memory::gib_text(spike) +
                          " that was not profiled, about " + memory::gib_text(free) +
                          " is free for it; the engine would die, not the request");
  finding.notes.push_back(
      {"a lower gpu-memory-utilization leaves room; a lower "
       "max-num-batched-tokens makes the spike smaller",
       {}});
}

}  // namespace

extern const Rule prompt_logprobs_spike_rule;
const Rule prompt_logprobs_spike_rule = {
    .id = "KVB114",
    .name = "prompt-logprobs-spike",
    .severity = Severity::kInfo,
    .summary = "a request for prompt logprobs can take memory that nothing has set aside",
    .doc = R"md(
## What it does
Looks at deployments that raise `max-logprobs` above the usual 20, or take the limit off, and asks whether prompt logprobs
of one step fit beside the cache.

## Why it matters
Logits of all prompt tokens of a step are computed at once, over the whole vocabulary. Nothing profiles that, and the
out-of-memory error ends the engine with all its requests.

## How it is computed
Six bytes per token of a step (1,024 at most on runner V2) and word of the vocabulary, against what lies beside the
budget and the profile run's peak, which is free between steps.

## Fix
A lower `gpu-memory-utilization` or `max-num-batched-tokens`; services for chat need no `max-logprobs`.

## Since which engine version
0.8, the V1 engine.

## References
vllm/v1/worker/gpu_model_runner.py, `_get_prompt_logprobs_dict`; vLLM issues 5907, 14239, 38830.
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
        - --model=Qwen/Qwen2.5-1.5B-Instruct
        - --max-model-len=16384
        - --max-num-batched-tokens=8192
        - --max-logprobs=-1  # expect: KVB114
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
        - --model=Qwen/Qwen2.5-1.5B-Instruct
        - --max-model-len=16384
        - --max-num-batched-tokens=8192
        - --max-logprobs=20
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
