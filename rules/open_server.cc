#include "lint/rule.h"
#include "rules/exposure.h"

namespace kvbudget {
namespace {

void check(const Deployment& d, Reporter& reporter) {
  const auto open = exposure_of(d);
  if (!open || has_api_key(d)) return;
  reporter.report(open->where, "the API is reachable without a key through " + open->how);
}

}  // namespace

extern const Rule open_server_rule;
const Rule open_server_rule = {
    .id = "KVB701",
    .name = "open-server",
    .severity = Severity::kWarning,
    .summary = "the API is reachable from outside without a key",
    .doc = R"md(
## What it does
Finds services without an API key that the same file exposes.

## Why it matters
Whoever reaches the port uses the GPU, reads what other users' requests leave in caches and metrics, and may load
adapters where that is switched on.

## How it is computed
No `api-key` and no $VLLM_API_KEY, and a Service of type LoadBalancer or NodePort, an Ingress, hostNetwork, or a
port that Compose publishes on every interface. Load balancers of a cloud's internal network and Ingresses with
authentication of their own are left alone, and so are containers whose variables come from elsewhere. A gateway
or a mesh may guard the rest: suppress the finding then.

## Fix
A key from a Secret ($VLLM_API_KEY), and a proxy that lets only the API through.

## Since which engine version
All.

## References
vLLM documentation, "Security".
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  type: LoadBalancer  # expect: KVB701
  selector: {app: chat}
  ports: [{port: 80, targetPort: 8000}]
---
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
          readinessProbe: {httpGet: {path: /health, port: 8000}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  type: ClusterIP
  selector: {app: chat}
  ports: [{port: 80, targetPort: 8000}]
---
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
          readinessProbe: {httpGet: {path: /health, port: 8000}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
