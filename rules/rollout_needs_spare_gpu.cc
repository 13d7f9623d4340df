#include <algorithm>
#include <charconv>

#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

/// Pods of `replicas` that may be missing during an update: "1" or "25%", rounded down.
uint64_t pods_to_spare(const std::string& written, uint64_t replicas) {
  const std::string text = written.empty() ? "25%" : written;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return replicas;  // a name that only run time knows
  const bool percent = end != text.data() + text.size() && *end == '%';
  return percent ? number * replicas / 100 : number;
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !around->deployment || around->recreates) return;
  const uint64_t replicas = d.start.replicas ? d.start.replicas->value : 1;
  if (replicas == 0 || pods_to_spare(around->max_unavailable, replicas) > 0) return;
  const auto one_node = std::find_if(around->mounts.begin(), around->mounts.end(),
                                     [](const Mount& mount) { return mount.one_node; });
  const uint64_t gpus = d.start.gpu.count ? d.start.gpu.count->value : 0;
  if (around->surges && gpus > 0) {
    reporter.report(around->strategy_where, "an update needs " + std::to_string(gpus) +
                                                (gpus == 1 ? " more GPU" : " more GPUs") +
                                                " before the old pod may stop");
  } else if (one_node != around->mounts.end()) {
    reporter.report(one_node->where,
                    "an update starts a pod that waits for a ReadWriteOnce claim which the old pod "
                    "holds");
  }
}

}  // namespace

extern const Rule rollout_needs_spare_gpu_rule;
const Rule rollout_needs_spare_gpu_rule = {
    .id = "KVB513",
    .name = "rollout-needs-spare-gpu",
    .severity = Severity::kWarning,
    .summary = "an update starts a pod that waits for a GPU which the old one holds",
    .doc = R"md(
## What it does
Finds Deployments whose update starts a new pod before an old one may stop, on GPUs or on a volume of one node.

## Why it matters
Where no GPU is free the new pod stays pending, the old one is never stopped, and the update hangs.

## How it is computed
maxUnavailable rounds down to 0 (25 % of fewer than four replicas does), and either the file asks for a maxSurge
above 0 or the pod mounts a claim that is ReadWriteOnce. A Deployment that leaves its strategy open is not
reported for its GPU alone: clusters with spare GPUs are common.

## Fix
`strategy: {type: Recreate}`, or `maxSurge: 0` with `maxUnavailable: 1`.

## Since which engine version
All.

## References
Kubernetes documentation, "Deployments", rolling update.
)md",
    .bad = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}  # expect: KVB513
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
    .good = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  strategy: {type: Recreate}
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
