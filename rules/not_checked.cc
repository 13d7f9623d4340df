#include <algorithm>

#include "lint/rule.h"

namespace kvbudget {
namespace {

// A value that the engine refuses is an error of its own (KVB418).
bool is_refused(const Deployment& d, const MissingInput& input) {
  if (d.version_assumed) return false;
  const std::vector<RefusedValue> values = refused_values(d.settings);
  return std::any_of(values.begin(), values.end(),
                     [&](const RefusedValue& value) { return value.name == input.what; });
}

void check(const Deployment& d, Reporter& reporter) {
  std::string message;
  std::vector<Note> notes;
  for (const MissingInput& input : d.missing) {
    if (is_refused(d, input)) continue;
    message += (message.empty() ? "memory was not checked: " : "; ") + input.detail;
    notes.push_back({input.what + ": " + input.hint, {}});
  }
  if (notes.empty()) return;
  reporter.report(d.start.where, std::move(message)).notes = std::move(notes);
}

}  // namespace

extern const Rule not_checked_rule;
const Rule not_checked_rule = {
    .id = "KVB001",
    .name = "not-checked",
    .severity = Severity::kInfo,
    .summary = "the memory of this deployment could not be judged",
    .doc = R"md(
## What it does
Names what was missing to estimate the memory of an engine: the model's config.json, the GPU, a value that
a template decides. One finding per deployment.

## Why it matters
Nothing is guessed. A deployment that could not be judged looks like one that is fine unless somebody says so;
`--require-complete` turns this into an error, so that a gate cannot pass because nothing was known.

## How it is computed
An estimate needs the model's shape, the GPU's memory and every setting that decides about memory. The first
two come from the file or the command line; config.json also from the Hugging Face cache and
the built-in catalogue.

## Fix
Give what is named: `--gpu`, `--model-config`, `--models`, or the rendered file in place of its template.

## Since which engine version
All.

## References
`kvbudget inspect` shows everything that was understood.
)md",
    .bad = R"yaml(
services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=example-org/private-model"]  # expect: KVB001
    gpus: all
    volumes: ["hub:/root/.cache/huggingface"]
volumes: {hub: {}}
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
    .check_deployment = &check,
};

}  // namespace kvbudget
