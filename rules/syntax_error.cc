#include "lint/rule.h"

namespace kvbudget {
namespace {

void check(const std::vector<SyntaxError>& errors, Reporter& reporter) {
  for (const SyntaxError& error : errors) reporter.report(error.where, error.message);
}

}  // namespace

extern const Rule syntax_error_rule;
const Rule syntax_error_rule = {
    .id = "KVB000",
    .name = "syntax-error",
    .severity = Severity::kError,
    .summary = "the file is not what it claims to be",
    .doc = R"md(
## What it does
Reports what a YAML or JSON file must not contain: unbalanced brackets, tabs as indentation, a key given
twice, an alias without its anchor, bytes that are no text.

## Why it matters
Kubernetes, Helm and vLLM refuse such a file, or, worse, read something else than its author meant: of two
equal keys the last one wins.

## How it is computed
Each document of the file is parsed on its own, so that one broken document hides neither the others nor the
engines they start.

## Fix
Correct the place that is shown.

## Since which engine version
All.

## References
YAML 1.2.2, sections 3.2.1 (unique keys) and 6.1 (indentation); RFC 8259.
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      image: vllm/vllm-openai:v0.20.0  # expect: KVB000
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_file = &check,
};

}  // namespace kvbudget
