#include <algorithm>
#include <cstdint>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/smaller_batch.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kNotSupported{0, 12, 0};

// Whether so large a step brings no trouble of its own.
bool has_room_for(const Deployment& d, uint64_t tokens) {
  if (!d.estimate) return true;
  const auto batch = static_cast<uint32_t>(std::min<uint64_t>(tokens, UINT32_MAX));
  const memory::Obstacle then = what_if_batch(d, batch).obstacle;
  return then == memory::Obstacle::kNone || then == d.estimate->obstacle;
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.chunked_prefill || d.settings.opaque_words || d.engine.auto_fit_max_model_len) return;
  const uint64_t tokens = d.engine.max_num_batched_tokens;
  const uint64_t length = d.engine.max_model_len;
  const bool stated = d.settings.has("max-num-batched-tokens") && d.reads("max-num-batched-tokens");
  if (stated && length != 0 && d.reads("max-model-len") && tokens < length) {
    Diagnostic& finding = reporter.report(
        d.where_of("max-num-batched-tokens"),
        "without chunked prefill one step must hold a whole prompt: max-num-batched-tokens " +
            memory::with_commas(tokens) + " < max-model-len " + memory::with_commas(length),
        exact_severity(d));
    finding.notes.push_back({"chunked prefill is off", d.where_of("enable-chunked-prefill")});
    if (has_room_for(d, length)) {
      propose_value(d, "max-num-batched-tokens", std::to_string(length), finding);
    } else {
      finding.notes.push_back({"a step of " + memory::with_commas(length) +
                                   " tokens does not fit " + d.gpu->name +
                                   "; shorten max-model-len, or let prompts be divided",
                               {}});
    }
    return;
  }
  const bool off = d.settings.text("enable-chunked-prefill") == "false";
  if (!off || d.version < kNotSupported || !d.shape || !d.shape->generates) return;
  reporter.report(d.where_of("enable-chunked-prefill"),
                  "vLLM does not officially support switching chunked prefill off",
                  Severity::kInfo);
}

}  // namespace

extern const Rule batch_tokens_below_length_rule;
const Rule batch_tokens_below_length_rule = {
    .id = "KVB406",
    .name = "batch-tokens-below-length",
    .severity = Severity::kError,
    .summary = "a step cannot hold a whole prompt, and prompts are not divided",
    .doc = R"md(
## What it does
Compares `max-num-batched-tokens` with `max-model-len` where chunked prefill is off. Says, as an info, when it is
switched off for a model that generates.

## Why it matters
The engine refuses: "max_num_batched_tokens (4096) is smaller than max_model_len (32768)".

## How it is computed
The scheduler's own check, with the values in force. Chunked prefill is off when the flag says so, for
encoder-decoder models, and by default before 0.8 for lengths up to 32,768.

## Fix
Leave chunked prefill on, or raise `max-num-batched-tokens` to the length.

## Since which engine version
All.

## References
vllm/config/scheduler.py, `verify_max_model_len`; vllm/engine/arg_utils.py.
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
        - --no-enable-chunked-prefill
        - --max-num-batched-tokens=4096  # expect: KVB406
        - --max-model-len=16384
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
        - --max-num-batched-tokens=4096
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
