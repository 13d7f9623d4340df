#include "lint/engine/envs.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

/// "vllm-dp-master" as the kubelet writes it in front of _PORT.
std::string variable_prefix(std::string_view service) {
  std::string prefix;
  for (const char c : service) {
    prefix += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return prefix;
}

/// A variable of the engine that the kubelet sets for `service`; empty when there is none.
std::string clash(const Deployment& d, std::string_view service) {
  for (const char* suffix : {"_PORT", "_SERVICE_HOST", "_SERVICE_PORT"}) {
    std::string name = variable_prefix(service) + suffix;
    if (env_exists(name, d.version) && d.env(name) == nullptr) return name;
  }
  return "";
}

// One more key in front of those of the pod's spec.
void propose_no_links(const Surroundings& around, Diagnostic& finding) {
  const Location& place = around.pod_begin;
  if (!place) return;
  const uint32_t column = place.file->position(place.range.begin).column;
  Location before = place;
  before.range.end = before.range.begin;
  Fix fix;
  fix.safe = true;
  fix.description = "set enableServiceLinks: false";
  fix.edits.push_back({before, "enableServiceLinks: false\n" + std::string(column - 1, ' ')});
  finding.fix = std::move(fix);
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !around->service_links) return;
  for (const Located<std::string>& service : around->services) {
    const std::string name = clash(d, service.value);
    if (name.empty()) continue;
    Diagnostic& finding = reporter.report(
        service.where, "for Service '" + service.value + "' Kubernetes sets " + name +
                           " to an address, which vLLM reads as a setting of its own and stops");
    propose_no_links(*around, finding);
  }
}

}  // namespace

extern const Rule service_named_vllm_rule;
const Rule service_named_vllm_rule = {
    .id = "KVB506",
    .name = "service-named-vllm",
    .severity = Severity::kError,
    .summary = "the kubelet sets a variable of vLLM to the address of a Service",
    .doc = R"md(
## What it does
Finds Services beside the engine for which the kubelet sets a variable that vLLM reads as something else.

## Why it matters
For a Service `vllm` every pod of the namespace gets VLLM_PORT=tcp://…, which the engine reads as a number: it
stops with "VLLM_PORT … appears to be a URI".

## How it is computed
NAME_PORT, NAME_SERVICE_HOST and NAME_SERVICE_PORT for each Service with an address in the same namespace,
against the variables of the engine's version. Silent with `enableServiceLinks: false` and where the pod sets the
variable itself.

## Fix
`enableServiceLinks: false` in the pod's spec, or another name for the Service.

## Since which engine version
All.

## References
vllm/envs.py, `get_vllm_port`; Kubernetes documentation, "Service environment variables"; vLLM issues 5867, 34199.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Service
metadata:
  name: vllm  # expect: KVB506
spec:
  selector: {app: chat}
  ports: [{port: 80, targetPort: 8000}]
---
apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  selector: {app: chat}
  ports: [{port: 80, targetPort: 8000}]
---
apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
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
