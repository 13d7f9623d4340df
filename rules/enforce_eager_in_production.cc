#include "lint/rule.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (!d.start.serves_traffic || !d.settings.is_true("enforce-eager")) return;
  if (d.shape && !d.shape->generates) return;
  Diagnostic& finding = reporter.report(
      d.where_of("enforce-eager"),
      "enforce-eager turns CUDA graphs and compilation off in a deployment that serves traffic");
  finding.subject = "enforce-eager";
  finding.notes.push_back(
      {"reports range from 3 % to 10 times slower decoding; to save memory keep the graphs and "
       "capture fewer sizes with max-cudagraph-capture-size",
       {}});
}

}  // namespace

extern const Rule enforce_eager_in_production_rule;
const Rule enforce_eager_in_production_rule = {
    .id = "KVB410",
    .name = "enforce-eager-in-production",
    .severity = Severity::kWarning,
    .summary = "eager mode in a deployment that serves traffic",
    .doc = R"md(
## What it does
Finds `enforce-eager` on engines that serve: probes, ports, replicas or a published port stand beside them.

## Why it matters
Eager mode turns CUDA graphs and compilation off. Reports range from 3 % to ten times slower
decoding; the gain is the memory of the graphs, usually 0.5 to 2 GiB. It is often left over from debugging.

## How it is computed
The flag, or the key of a vLLM config file, together with signs of production in the same file.

## Fix
Delete it. Where memory is short, `max-cudagraph-capture-size` keeps the graphs that matter.

## Since which engine version
All.

## References
vLLM documentation, "Conserving Memory"; vLLM issues 4449, 56892.
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
        - --max-model-len=8192
        - --enforce-eager  # expect: KVB410
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe: {httpGet: {path: /health, port: 8000}}
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
        - --max-model-len=8192
        - --max-cudagraph-capture-size=64
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe: {httpGet: {path: /health, port: 8000}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
