#include "lint/engine/architectures.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  const bool manifest = d.start.kind == "kubernetes" || is_service(d);
  if (!manifest || !d.settings.is_true("trust-remote-code") || !is_downloaded(d)) return;
  if (d.settings.has("revision") || d.settings.has("code-revision")) return;
  Diagnostic& finding = reporter.report(
      d.where_of("trust-remote-code"),
      "code from the repository of " + d.model + " runs in the server, at no pinned revision");
  const Architecture* known = d.shape ? find_architecture(d.shape->architecture) : nullptr;
  if (known != nullptr && architecture_exists(*known, d.version)) {
    finding.notes.push_back({"this release has " + d.shape->architecture +
                                 " itself; only a tokenizer or processor could need the code",
                             {}});
  }
}

}  // namespace

extern const Rule trust_remote_code_rule;
const Rule trust_remote_code_rule = {
    .id = "KVB703",
    .name = "trust-remote-code",
    .severity = Severity::kWarning,
    .summary = "code from the model repository runs in the server",
    .doc = R"md(
## What it does
Finds `trust-remote-code` for models whose repository may change.

## Why it matters
The server runs Python from the repository, with its network and its secrets. Without a revision it is whatever
the repository holds at the next start.

## How it is computed
The flag in a manifest, with a model of the hub and without `revision`; `code-revision` pins the code where it
lies in another repository. Local models and streamed ones are left alone. Where the engine knows the architecture
a note says so: then only a tokenizer or a processor can need the code.

## Fix
Delete the flag, or pin `revision` to a commit.

## Since which engine version
All.

## References
vllm/transformers_utils/config.py; vLLM documentation, "Security".
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
        - --trust-remote-code  # expect: KVB703
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
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
