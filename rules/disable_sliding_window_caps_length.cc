#include "lint/memory/format.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

using memory::with_commas;

void check(const Deployment& d, Reporter& reporter) {
  if (!d.settings.is_true("disable-sliding-window") || !d.shape || !d.context_checked) return;
  const uint64_t capped = d.context.limit_tokens;
  const uint64_t whole = context_limit(*d.shape, d.version, false).limit_tokens;
  if (capped >= whole) return;
  const bool asks_more = d.settings.has("max-model-len") && d.engine.max_model_len > capped &&
                         !d.engine.auto_fit_max_model_len;
  const std::string limit = "disable-sliding-window limits " + d.model + " to the " +
                            with_commas(capped) + " tokens of its window";
  if (asks_more) {
    Diagnostic& finding = reporter.report(
        d.where_of("disable-sliding-window"),
        limit + "; max-model-len is " + with_commas(d.engine.max_model_len), Severity::kError);
    finding.notes.push_back({"max-model-len is set here", d.where_of("max-model-len")});
    return;
  }
  if (d.settings.has("max-model-len")) return;
  reporter.report(d.where_of("disable-sliding-window"),
                  limit + "; without it requests may have " + with_commas(whole));
}

}  // namespace

extern const Rule disable_sliding_window_caps_length_rule;
const Rule disable_sliding_window_caps_length_rule = {
    .id = "KVB210",
    .name = "disable-sliding-window-caps-length",
    .severity = Severity::kWarning,
    .summary = "disable-sliding-window caps the context at the window",
    .doc = R"md(
## What it does
Finds `disable-sliding-window` on a model whose window is shorter than its context.

## Why it matters
The engine takes the window for the model's length: requests are cut to it, and a longer `max-model-len` is refused at
start. The flag reads as if it removed a limit; it adds one.

## How it is computed
`sliding_window` of config.json against the length that the model has without the flag. An error where `max-model-len`
asks for more, a warning where nothing is asked for.

## Fix
Delete the flag.

## Since which engine version
All.

## References
`_get_and_verify_max_len` in vllm/config/model.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=mistralai/Mistral-7B-v0.1
        - --disable-sliding-window  # expect: KVB210
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=mistralai/Mistral-7B-v0.1
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
