#include "lint/engine/flags.h"
#include "lint/engine/resolve.h"
#include "lint/memory/estimate.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/yaml_values.h"

namespace kvbudget {
namespace {

// The engine would decide otherwise about its memory if the key did what it says.
bool decides_memory(const Deployment& d, const std::string& name) {
  if (!d.estimate) return false;
  memory::EngineSettings meant = d.engine;
  if (name == "enable-prefix-caching") {
    meant.prefix_caching = false;
    meant.mamba_cache_mode = "none";
  } else if (name == "async-scheduling") {
    meant.async_scheduling = false;
  } else {
    return false;
  }
  return memory::estimate(*d.shape, meant, d.card()).verdict != d.estimate->verdict;
}

bool is_on_by_default(const Deployment& d, const std::string& name) {
  return default_text(name, {d.settings, d.version, d.gpu ? &*d.gpu : nullptr, d.shape.get(),
                             d.context.default_tokens}) == "true";
}

void check_false(const Deployment& d, const DroppedKey& key, Reporter& reporter) {
  const std::string name = with_dashes(key.name);
  const Flag* flag = find_flag(name);
  if (flag == nullptr || flag->name != name || !flag_exists(*flag, d.version)) return;
  if (d.settings.has(name) || !is_on_by_default(d, name)) return;
  const Severity severity = decides_memory(d, name) ? Severity::kError : Severity::kWarning;
  Diagnostic& finding = reporter.report(
      key.key, key.name + ": false has no effect; the engine drops it and the default stays on",
      severity);
  if (flag_kind(*flag, d.version).form != FlagForm::kTwoWay || !key.key || !key.value) return;
  finding.fix =
      Fix{true, "write no-" + name + ": true", {{key.key, "no-" + name}, {key.value, "true"}}};
}

void check_quoted(const RefusedWord& word, Reporter& reporter) {
  Diagnostic& finding = reporter.report(
      word.where,
      word.option.substr(2) + ": \"" + word.text + "\" is passed as a text, and " + word.problem,
      Severity::kError);
  const std::string_view bytes = word.where.file->bytes();
  Location quoted = word.where;
  if (lower(word.text) != "true" || quoted.range.begin == 0) return;
  --quoted.range.begin;
  ++quoted.range.end;
  const std::string_view spelled =
      bytes.substr(quoted.range.begin, quoted.range.end - quoted.range.begin);
  if (spelled != "\"" + word.text + "\"" && spelled != "'" + word.text + "'") return;
  finding.fix = Fix{true, "take the quotes away", {{quoted, "true"}}};
}

void check(const Deployment& d, Reporter& reporter) {
  for (const DroppedKey& key : d.settings.dropped_keys) check_false(d, key, reporter);
  for (const RefusedWord& word : d.settings.refused_words) {
    if (is_quoted_switch(word)) check_quoted(word, reporter);
  }
  for (const RefusedValue& value : refused_values(d.settings)) {
    if (!is_null_value(value)) continue;
    reporter.report(
        value.setting->key,
        value.name + " without a value is passed as the text None, which is " + value.problem,
        Severity::kError);
  }
}

}  // namespace

extern const Rule yaml_false_has_no_effect_rule;
const Rule yaml_false_has_no_effect_rule = {
    .id = "KVB416",
    .name = "yaml-false-has-no-effect",
    .severity = Severity::kWarning,
    .summary = "a key of the config file does not do what it says",
    .doc = R"md(
## What it does
Finds keys of a vLLM config file that say `false` where the default is on, switches whose `true` stands in quotes,
and keys without a value for settings that need one.

## Why it matters
`vllm serve` turns a key that is true into its switch and drops one that is false without a word:
`enable-prefix-caching: false` leaves prefix caching on. A quoted `"true"` and a null are passed on as texts and stop
the engine.

## How it is computed
As the engine turns keys into words. It is an error where the engine's verdict on its memory would change.

## Fix
`no-enable-prefix-caching: true`.

## Since which engine version
0.6.4 under `vllm serve`, up to 0.33; the api_server module honours false from 0.28.

## References
vllm/utils/argparse_utils.py, `load_config_file`.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: chat}
data:
  serve.yaml: |
    model: Qwen/Qwen2.5-7B-Instruct
    max-model-len: 8192
    enable-prefix-caching: false  # expect: KVB416
---
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  volumes:
    - name: config
      configMap: {name: chat}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--config", "/etc/vllm/serve.yaml"]
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts:
        - name: config
          mountPath: /etc/vllm
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: chat}
data:
  serve.yaml: |
    model: Qwen/Qwen2.5-7B-Instruct
    max-model-len: 8192
    no-enable-prefix-caching: true
---
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  volumes:
    - name: config
      configMap: {name: chat}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--config", "/etc/vllm/serve.yaml"]
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts:
        - name: config
          mountPath: /etc/vllm
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
