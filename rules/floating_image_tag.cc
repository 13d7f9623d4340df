#include <algorithm>
#include <array>

#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

bool is_floating(std::string_view tag) {
  constexpr std::array<std::string_view, 7> kNames = {"latest", "nightly", "main",  "master",
                                                      "edge",   "dev",     "stable"};
  if (std::find(kNames.begin(), kNames.end(), tag) != kNames.end()) return true;
  constexpr std::array<std::string_view, 3> kPrefixes = {"latest-", "nightly-", "main-"};
  // "nightly-<commit>" stays what it is.
  constexpr size_t kCommit = 12;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return tag.starts_with(prefix) && tag.size() < prefix.size() + kCommit;
  });
}

void check(const Deployment& d, Reporter& reporter) {
  const auto image = image_of(d);
  if (!image || image->pinned || !is_service(d) || !d.start.image->location()) return;
  // A chart may have a tag of its own for values that give none.
  const bool bare = d.start.kind == "kubernetes" || d.start.kind == "compose";
  const bool registry = image->repository.find('/') != std::string_view::npos;
  if (!registry) return;
  if (image->tag.empty() ? !(bare && d.start.around->whole) : !is_floating(image->tag)) {
    return;
  }
  reporter.report(d.start.image->location(),
                  (image->tag.empty() ? "an image without a tag is its 'latest', which"
                                      : "'" + std::string(image->tag) + "'") +
                      std::string(" can move to a release with other flags and memory defaults"));
}

}  // namespace

extern const Rule floating_image_tag_rule;
const Rule floating_image_tag_rule = {
    .id = "KVB507",
    .name = "floating-image-tag",
    .severity = Severity::kWarning,
    .summary = "the image tag can move to another release",
    .doc = R"md(
## What it does
Finds images of services whose tag is `latest`, `nightly`, a branch, or missing.

## Why it matters
The next restart may pull a release with other flags, defaults and memory: twenty minor releases of 2026 moved
`gpu-memory-utilization`, the cost of CUDA graphs and the layout of caches.

## How it is computed
The tag of the image, unless a digest pins it. Bare Pods, Jobs and scripts are left alone, and so are local
images without a registry.

## Fix
The tag of a release, or a digest.

## Since which engine version
All.

## References
Kubernetes documentation, "Images"; rule KVB411.
)md",
    .bad = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:latest  # expect: KVB507
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .good = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
