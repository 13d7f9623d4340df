#include "lint/rule.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kDeprecated{0, 19, 0};
constexpr Version kRemoved{0, 28, 0};  // from here on the parser refuses it, which is KVB401

void check(const Deployment& d, Reporter& reporter) {
  if (d.version < kDeprecated || d.version >= kRemoved) return;
  if (!d.settings.is_true("calculate-kv-scales")) return;
  Diagnostic& finding =
      reporter.report(d.where_of("calculate-kv-scales"),
                      "calculate-kv-scales is deprecated and gone in vLLM " + kRemoved.str() +
                          ", where scales come from the checkpoint or are 1.0; " + this_engine(d));
  finding.notes.push_back(
      {"for scales of its own, calibrate the checkpoint with llm-compressor", {}});
}

}  // namespace

extern const Rule calculate_kv_scales_gone_rule;
const Rule calculate_kv_scales_gone_rule = {
    .id = "KVB211",
    .name = "calculate-kv-scales-gone",
    .severity = Severity::kWarning,
    .summary = "calculate-kv-scales is going away",
    .doc = R"md(
## What it does
Finds `calculate-kv-scales` in the releases that deprecate it.

## Why it matters
The next upgrade refuses the flag, and the service starts with other scales than before: those of the checkpoint, or
1.0. Computed from the first batch alone they were never good ones.

## How it is computed
The flag, in 0.19 to 0.27. Later releases refuse it, which KVB401 reports.

## Fix
Delete it. Where the scales matter, calibrate the checkpoint.

## Since which engine version
0.19.0 to 0.27.

## References
vllm/config/cache.py; vLLM issues 37201, 49389.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
        - --calculate-kv-scales  # expect: KVB211
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
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
