#include <optional>
#include <string>

#include "lint/rule.h"
#include "rules/container.h"
#include "rules/exposure.h"

namespace kvbudget {
namespace {

const char* covered_paths(const Deployment& d) {
  return d.version >= Version{0, 22, 0} ? "/v1, /v2 and /inference" : "/v1";
}

bool is_on(const Deployment& d, std::string_view name) {
  const EnvVar* variable = d.env(name);
  if (variable == nullptr || !variable->known) return false;
  const std::string_view value = variable->value.view();
  return !value.empty() && value != "0" && value != "false" && value != "False";
}

void check_development(const Deployment& d, const std::optional<Exposure>& open,
                       Reporter& reporter) {
  constexpr std::string_view kDevelopment = "VLLM_SERVER_DEV_MODE";
  constexpr std::string_view kAdapters = "VLLM_ALLOW_RUNTIME_LORA_UPDATING";
  if (is_on(d, kDevelopment)) {
    reporter.report(d.env(kDevelopment)->value.location(),
                    std::string(kDevelopment) + " opens paths that no API key protects" +
                        (open ? ", and " + open->how + " exposes them" : ""),
                    open ? Severity::kError : Severity::kWarning);
  }
  if (open && is_on(d, kAdapters)) {
    reporter.report(d.env(kAdapters)->value.location(),
                    std::string(kAdapters) + " lets every caller load adapters, and " + open->how +
                        " exposes the server",
                    has_api_key(d) ? Severity::kWarning : Severity::kError);
  }
}

void check(const Deployment& d, Reporter& reporter) {
  if (!is_service(d)) return;
  const auto open = exposure_of(d);
  check_development(d, open, reporter);
  if (!open || !names_api_key(d)) return;
  reporter.report(open->where, std::string("the API key protects ") + covered_paths(d) +
                                   " only; /metrics and other paths are open through " + open->how);
}

}  // namespace

extern const Rule api_key_covers_part_rule;
const Rule api_key_covers_part_rule = {
    .id = "KVB702",
    .name = "api-key-covers-part",
    .severity = Severity::kInfo,
    .summary = "the API key does not protect every path of an exposed server",
    .doc = R"md(
## What it does
Finds exposed servers with an API key whose other paths stay open, and development endpoints in services.

## Why it matters
vLLM checks its key on some prefixes only. /metrics, /score, /rerank, /pooling and /invocations answer without it;
development mode adds paths that reset caches, put the engine to sleep and call its workers.

## How it is computed
Exposure as for KVB701. The key covers /v1, from 0.22 /v2 and /inference too. An error where
$VLLM_SERVER_DEV_MODE is on in an exposed server, with a key or without, and where
$VLLM_ALLOW_RUNTIME_LORA_UPDATING is on in one without a key; a warning where development mode is on in a service
that the file does not expose, and where callers with a key may load adapters.

## Fix
A proxy that lets only /v1 through; no development mode.

## Since which engine version
All.

## References
vllm/entrypoints, class AuthenticationMiddleware (0.9 to 0.32); vLLM documentation, "Security".
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
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
          env:
            - name: VLLM_SERVER_DEV_MODE
              value: "1"  # expect: KVB702
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
