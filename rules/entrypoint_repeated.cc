#include "lint/rule.h"
#include "rules/removal.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  if (!d.start.repeated_entry.empty()) {
    std::string words;
    std::vector<Location> places;
    for (const Word& word : d.start.repeated_entry) {
      words += (words.empty() ? "" : " ") + word.text.str();
      places.push_back(word.text.location());
    }
    Diagnostic& finding =
        reporter.report(places.front(), "the image already runs the engine; " + words +
                                            " in front of the arguments repeats it");
    propose_removal(remove_words(places), /*safe=*/true, "drop the words", finding);
    return;
  }
  if (!d.start.entry_replaced) return;
  Diagnostic& finding =
      reporter.report(d.start.where, "the image's entrypoint is replaced by arguments alone: " +
                                         d.start.argv.front().text.str() + " is no program");
  finding.notes.push_back(
      {"in Kubernetes `command` replaces the entrypoint and `args` adds to it", {}});
}

}  // namespace

extern const Rule entrypoint_repeated_rule;
const Rule entrypoint_repeated_rule = {
    .id = "KVB419",
    .name = "entrypoint-repeated",
    .severity = Severity::kError,
    .summary = "the command does not go together with the image's entrypoint",
    .doc = R"md(
## What it does
Finds `vllm serve`, `serve` or the api_server module in the arguments of an image whose entrypoint runs the engine
already, and commands that replace the entrypoint by arguments alone.

## Why it matters
The engine gets the words as arguments and stops: "unrecognized arguments: serve Qwen/Qwen3-8B". Without a program the
container does not start at all.

## How it is computed
The entrypoint of vllm/vllm-openai is `vllm serve`, and was `python3 -m vllm.entrypoints.openai.api_server` up to
0.11.0. Other images are not judged. `args` in Kubernetes, `command` in Compose and the words behind the image in
`docker run` are added to it.

## Fix
Drop the words.

## Since which engine version
All.

## References
docker/Dockerfile of vLLM; Kubernetes documentation, "Define a Command and Arguments for a Container".
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
        - vllm  # expect: KVB419
        - serve
        - Qwen/Qwen2.5-7B-Instruct
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
        - Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
