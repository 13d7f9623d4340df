#include "lint/rule.h"

namespace kvbudget {
namespace {

void check(const SuppressionFault& fault, Reporter& reporter) {
  const std::string rule(fault.rule);
  switch (fault.kind) {
    case SuppressionFault::Kind::kUnknownRule:
      reporter.report(fault.where, fault.hint);
      return;
    case SuppressionFault::Kind::kNoReason:
      reporter.report(fault.where, "nothing says why " + rule + " is ignored here");
      return;
    case SuppressionFault::Kind::kHidesNothing:
      reporter.report(fault.where, "there is no finding of " + rule + " here to ignore");
      return;
  }
}

}  // namespace

extern const Rule unused_suppression_rule;
const Rule unused_suppression_rule = {
    .id = "KVB002",
    .name = "unused-suppression",
    .severity = Severity::kWarning,
    .summary = "a comment that ignores a rule hides nothing, or does not say why",
    .doc = R"md(
## What it does
Looks at each `kvbudget: ignore` and at the annotation `kvbudget.io/ignore`: whether the rule exists, whether
it found anything there, whether a reason follows.

## Why it matters
A suppression outlives its cause. It then hides the next finding of the rule, which nobody has looked at.

## How it is computed
Every finding is compared with every suppression before it is dropped; rules that were not run are left out.

## Fix
Delete it, name the rule that was meant, or write the reason behind `--` (in the annotation, behind the colon).

## Since which engine version
All.

## References
None.
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
        - --model=Qwen/Qwen2.5-7B-Instruct  # kvbudget: ignore KVB101 -- was bigger  # expect: KVB002
        - --max-model-len=8192
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
        - --max-model-len=131072  # kvbudget: ignore KVB404 -- rope scaling is set in the config
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_suppression = &check,
};

}  // namespace kvbudget
