#include <algorithm>

#include "lint/engine/quantization.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

struct Asked {
  std::string method;
  Location where;
};

// The method that the flag asks for, else the one of the checkpoint.
Asked asked_method(const Deployment& d) {
  for (const std::string_view name : {"quantization", "load-format"}) {
    const std::string value = d.settings.text(name);
    const bool loads = value == "gguf" || value == "bitsandbytes";
    if (!value.empty() && (name == "quantization" || loads)) return {value, d.where_of(name)};
  }
  if (d.model.ends_with(".gguf")) return {"gguf", d.model_where};
  return {d.shape ? d.shape->quantization : "", d.model_where};
}

bool is_plugin(std::string_view successor) { return successor.find("plugin") != successor.npos; }

// A file that installs the plugin, or an image of somebody's own that may hold it.
bool may_have_plugin(const Deployment& d, std::string_view plugin) {
  if (d.start.file != nullptr && d.start.file->bytes().find(plugin) != std::string_view::npos) {
    return true;
  }
  const std::string_view image = d.start.image ? d.start.image->view() : std::string_view();
  return image.find("vllm/vllm-openai") == std::string_view::npos;
}

void report_removed(const Deployment& d, const QuantizationMethod& method, const Location& where,
                    Reporter& reporter) {
  const bool plugin = is_plugin(method.successor);
  const bool open = plugin && may_have_plugin(d, method.successor);
  Diagnostic& finding =
      reporter.report(where,
                      "quantisation method " + std::string(method.name) +
                          " is no part of vLLM since " + method.removed->str() + ": " +
                          (plugin ? "moved to a plugin" : "removed") + "; " + this_engine(d),
                      open ? Severity::kWarning : exact_severity(d));
  if (plugin) {
    finding.notes.push_back({"install " + std::string(method.successor) +
                                 ", or stay with the last release before " + method.removed->str(),
                             {}});
  } else if (!method.successor.empty()) {
    finding.notes.push_back({"use " + std::string(method.successor) + " instead", {}});
  }
}

void check(const Deployment& d, Reporter& reporter) {
  const Asked asked = asked_method(d);
  const QuantizationMethod* method = find_quantization_method(asked.method);
  if (method == nullptr || d.settings.opaque_words) return;
  const std::vector<RefusedValue> refused = refused_values(d.settings);
  if (std::any_of(refused.begin(), refused.end(), [](const RefusedValue& value) {
        return value.name == "quantization" || value.name == "load-format";
      })) {
    return;  // KVB418
  }
  if (method->removed && d.version >= *method->removed) {
    report_removed(d, *method, asked.where, reporter);
  } else if (method->since && d.version < *method->since) {
    reporter.report(asked.where,
                    "quantisation method " + asked.method + " came with vLLM " +
                        method->since->str() + "; " + this_engine(d),
                    exact_severity(d));
  } else if (method->is_deprecated(d.version) &&
             !d.settings.is_true("allow-deprecated-quantization")) {
    Diagnostic& finding = reporter.report(
        asked.where,
        "quantisation method " + asked.method +
            " is deprecated and refused without --allow-deprecated-quantization; " + this_engine(d),
        exact_severity(d));
    propose_argument(d, "--allow-deprecated-quantization", finding);
  }
}

}  // namespace

extern const Rule quantisation_method_removed_rule;
const Rule quantisation_method_removed_rule = {
    .id = "KVB403",
    .name = "quantisation-method-removed",
    .severity = Severity::kError,
    .summary = "this version of vLLM does not have the quantisation method",
    .doc = R"md(
## What it does
Looks the quantisation method up that the flag or the checkpoint asks for: removed, moved to a plugin, deprecated, or
not there yet.

## Why it matters
The engine stops: "Unknown quantization method: gguf".

## How it is computed
From the methods of every release. A method that moved to a plugin is a warning where the image may hold the plugin:
one of somebody's own, or a file that names it.

## Fix
Install the plugin, stay with the last release that has the method, or take a checkpoint of another format.

## Since which engine version
All. GGUF went with 0.24 and bitsandbytes with 0.28; from 0.14 on deprecated methods want a flag.

## References
vllm/model_executor/layers/quantization/__init__.py of each release; vLLM issues 31688, 39612, 43529.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.28.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --quantization=bitsandbytes  # expect: KVB403
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
      image: vllm/vllm-openai:v0.27.1
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --quantization=bitsandbytes
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
