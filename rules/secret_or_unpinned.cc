#include <algorithm>
#include <array>

#include "lint/rule.h"

namespace kvbudget {
namespace {

bool is_placeholder(std::string_view value) {
  constexpr std::array<std::string_view, 8> kWords = {"EMPTY", "empty",    "none",  "None",
                                                      "null",  "changeme", "dummy", "token-abc123"};
  constexpr std::array<std::string_view, 7> kParts = {"your",    "REDACTED", "redacted", "example",
                                                      "replace", "REPLACE",  "xxx"};
  return value.empty() || value.find_first_of("$<{[*") != std::string_view::npos ||
         std::find(kWords.begin(), kWords.end(), value) != kWords.end() ||
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return value.find(part) != std::string_view::npos;
         });
}

bool is_hub_token(std::string_view value) {
  return value.starts_with("hf_") && value.size() > 3 &&
         value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                                 3) == std::string_view::npos;
}

void report_secret(const Location& where, std::string_view what, Reporter& reporter) {
  if (!where) return;
  Diagnostic& finding = reporter.report(where, std::string(what) + " is written in the file");
  finding.notes.push_back({"keep it in a Secret, and revoke it if this file was ever shared", {}});
}

void check(const Deployment& d, Reporter& reporter) {
  constexpr std::array<std::string_view, 4> kSecrets = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                                                        "HUGGINGFACE_HUB_TOKEN", "VLLM_API_KEY"};
  for (const EnvVar& variable : d.start.env) {
    if (!variable.known) continue;
    const std::string_view value = variable.value.view();
    const bool secret =
        std::find(kSecrets.begin(), kSecrets.end(), variable.name.view()) != kSecrets.end() &&
        !is_placeholder(value);
    if (is_hub_token(value) || secret) {
      report_secret(variable.value.location(), variable.name.view(), reporter);
    }
  }
  for (const char* name : {"api-key", "hf-token"}) {
    const Setting* setting = d.settings.find(name);
    if (setting == nullptr || !setting->known || setting->origin == Origin::kEnvironment) continue;
    if (!is_placeholder(setting->value)) report_secret(setting->where, name, reporter);
  }
}

}  // namespace

extern const Rule secret_or_unpinned_rule;
const Rule secret_or_unpinned_rule = {
    .id = "KVB704",
    .name = "secret-or-unpinned",
    .severity = Severity::kWarning,
    .summary = "a secret is written in the file",
    .doc = R"md(
## What it does
Finds tokens and keys that stand in a file as they are.

## Why it matters
Whoever reads the repository, its history or the pod's description has them.

## How it is computed
A value that begins with `hf_` in an argument or a variable; any other literal in `api-key`, $VLLM_API_KEY or
$HF_TOKEN that does not look like a placeholder (a variable, a template, `<…>`, EMPTY, your-key).

## Fix
`valueFrom: {secretKeyRef: …}`; Compose: a variable of an `env_file` that is not in the repository.

## Since which engine version
All.

## References
Kubernetes documentation, "Good practices for Kubernetes Secrets"; Hugging Face documentation, "User access
tokens".
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
      resources: {limits: {nvidia.com/gpu: 1}}
      env:
        - name: HF_TOKEN
          value: "hf_xxx"  # expect: KVB704
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
      env:
        - name: HF_TOKEN
          valueFrom: {secretKeyRef: {name: hub, key: token}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
