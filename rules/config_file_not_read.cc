#include "lint/engine/flags.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// `--config=FILE`: the value stands within the word of the flag.
bool is_one_word(const Setting& config) {
  return config.key && config.where.file == config.key.file &&
         config.key.range.begin < config.where.range.begin &&
         config.where.range.end <= config.key.range.end;
}

void report_one_word(const Setting& config, Reporter& reporter) {
  const std::string_view word = config.key.file->bytes().substr(
      config.key.range.begin, config.where.range.end - config.key.range.begin);
  Diagnostic& finding = reporter.report(
      config.key, "--config=" + config.value + " is never read; its settings do not apply");
  finding.notes.push_back(
      {"the engine reads the file only where --config is a word of its own", {}});
  constexpr std::string_view kFlag = "--config=";
  if (word != std::string(kFlag) + config.value) return;
  const std::string_view bytes = config.key.file->bytes();
  const uint32_t begin = config.key.range.begin;
  const uint32_t line = config.key.file->line_start(config.key.file->position(begin).line);
  const bool item = trimmed(bytes.substr(line, begin - line)) == "-";
  const char before = begin == 0 ? '\n' : bytes[begin - 1];
  std::string between = " ";
  if (item) {
    between = "\n" + std::string(bytes.substr(line, begin - line));
  } else if (before == '"' || before == '\'') {
    const char quote[] = {before, ',', ' ', before, '\0'};
    between = quote;
  }
  const uint32_t equals = begin + static_cast<uint32_t>(kFlag.size()) - 1;
  finding.fix = Fix{true,
                    "give the file as a word of its own",
                    {{{config.key.file, {equals, equals + 1}}, between}}};
}

void check(const Deployment& d, Reporter& reporter) {
  const Setting* config = d.settings.find("config");
  if (config == nullptr || config->origin != Origin::kFlag || !config->known) return;
  if (is_one_word(*config)) return report_one_word(*config, reporter);
  for (const Overridden& other : d.settings.overridden) {
    if (other.name != "config") continue;
    reporter.report(config->key, "--config is given twice; the engine takes one file only");
    return;
  }
  if (!config->value.ends_with(".yaml") && !config->value.ends_with(".yml")) {
    reporter.report(config->where, "--config " + config->value +
                                       " is refused: the name must end in .yaml or .yml");
  }
  if (!d.start.serve && d.version < Version{0, 10, 2}) {
    reporter.report(config->key,
                    "the api_server module has no --config before vLLM 0.10.2; " + this_engine(d),
                    exact_severity(d));
  }
}

}  // namespace

extern const Rule config_file_not_read_rule;
const Rule config_file_not_read_rule = {
    .id = "KVB415",
    .name = "config-file-not-read",
    .severity = Severity::kError,
    .summary = "the config file is never read, or refused",
    .doc = R"md(
## What it does
Finds `--config` in forms that the engine does not read: one word (`--config=FILE`), another ending than .yaml or
.yml, twice, or given to the api_server module before 0.10.2.

## Why it matters
`--config=FILE` parses and the file is never opened: every setting in it is silently missing. The other forms stop
the engine.

## How it is computed
The engine looks for the word `--config` before it parses; the joined form is not that word.

## Fix
`--config` and the file as two words.

## Since which engine version
0.6.0 for `vllm serve`, 0.10.2 for the api_server module.

## References
vllm/utils/argparse_utils.py, `_pull_args_from_config`.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: chat}
data:
  serve.yaml: |
    gpu-memory-utilization: 0.9
    max-num-seqs: 64
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192", "--config=/etc/vllm/serve.yaml"]  # expect: KVB415
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
    max-num-seqs: 64
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
