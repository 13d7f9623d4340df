#include <optional>
#include <string>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

struct Pinned {
  std::string devices;
  Location where;
};

std::optional<Pinned> by_variable(const Deployment& d, std::string_view name) {
  const EnvVar* variable = d.env(name);
  if (variable == nullptr || !variable->known || variable->value.empty()) return std::nullopt;
  const std::string& value = variable->value.str();
  if (value == "none" || value == "void" || value == "-1") return std::nullopt;
  return Pinned{value, variable->value.location()};
}

std::optional<Pinned> pinned_devices(const Deployment& d, const Surroundings& around) {
  if (around.compose && !around.gpu_devices.empty()) {
    return Pinned{around.gpu_devices.front(), around.gpu_devices_where};
  }
  const bool granted = around.kubernetes && !around.devices.empty();
  if (!granted) {
    if (auto pinned = by_variable(d, "CUDA_VISIBLE_DEVICES")) return pinned;
  }
  if (auto pinned = by_variable(d, "NVIDIA_VISIBLE_DEVICES")) {
    if (!granted || pinned->devices == "all") return pinned;
  }
  if (around.compose && !d.start.gpu.resource.empty()) {
    return Pinned{"0", d.start.gpu.count ? d.start.gpu.count->where : d.start.replicas->where};
  }
  return std::nullopt;
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !d.start.replicas || d.start.replicas->value < 2) return;
  const auto pinned = pinned_devices(d, *around);
  if (!pinned) return;
  const uint32_t replicas = d.start.replicas->value;
  const double share = d.engine.gpu_memory_utilization;
  const bool too_much = !d.engine.kv_cache_memory_bytes && share * replicas > 1.0;
  Diagnostic& finding =
      reporter.report(pinned->where,
                      std::to_string(replicas) + " replicas see GPU " + pinned->devices +
                          "; each takes " + memory::decimal_text(share, 2) + " of its memory",
                      around->compose && too_much ? Severity::kError : Severity::kWarning);
  finding.notes.push_back({"the number of replicas is set here", d.start.replicas->where});
}

}  // namespace

extern const Rule replicas_share_gpu_rule;
const Rule replicas_share_gpu_rule = {
    .id = "KVB512",
    .name = "replicas-share-gpu",
    .severity = Severity::kError,
    .summary = "replicas of one service see the same GPU",
    .doc = R"md(
## What it does
Finds services with several replicas that are all pinned to the same devices.

## Why it matters
Each replica takes `gpu-memory-utilization` of the whole card; the second finds too little free and stops, or
takes the memory of the first.

## How it is computed
Compose: `device_ids`, GPUs by number or all (which gives every replica the first ones), $CUDA_VISIBLE_DEVICES or
$NVIDIA_VISIBLE_DEVICES with more than one replica. An error when the replicas' shares are more than the card.
Kubernetes: the two variables with more than one replica and no GPU resource, or
$NVIDIA_VISIBLE_DEVICES=all, which overrides what the device plugin gives; a warning, since replicas may land on
different nodes.

## Fix
One GPU for each replica, or shares that add up to less than one.

## Since which engine version
All.

## References
NVIDIA k8s-device-plugin documentation; vLLM issues 2193, 10643.
)md",
    .bad = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          env: [{name: CUDA_VISIBLE_DEVICES, value: "0"}]  # expect: KVB512
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .good = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 2
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
