#include "lint/engine/flags.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/removal.h"
#include "rules/version_text.h"
#include "rules/yaml_values.h"

namespace kvbudget {
namespace {

// Says what to write instead, where the value is a plain true.
void propose_bare_switch(const RefusedWord& word, Diagnostic& finding) {
  const size_t equals = word.text.find('=');
  const bool joined = word.text.starts_with('-') && equals != std::string::npos;
  const std::string value = lower(joined ? word.text.substr(equals + 1) : word.text);
  if (value != "true" || !word.where) return;
  if (!joined) {
    const Location words[] = {word.where};
    return propose_removal(remove_words(words), /*safe=*/true, "drop the value", finding);
  }
  const std::string_view spelled = word.where.file->bytes().substr(
      word.where.range.begin, word.where.range.end - word.where.range.begin);
  if (spelled != word.text) return;
  Location rest = word.where;
  rest.range.begin += static_cast<uint32_t>(equals);
  finding.fix = Fix{true, "drop the value", {{rest, ""}}};
}

void check_negative(const Deployment& d, const UnknownFlag& unknown, Reporter& reporter) {
  const Flag* flag = flag_without_negative(unknown.name, d.version);
  if (flag == nullptr || unknown.ambiguous) return;
  Diagnostic& finding = reporter.report(
      unknown.where, "--" + flag->name + " has no form that turns it off; " + this_engine(d),
      exact_severity(d));
  const bool off =
      flag_kind(*flag, d.version).is_switch() && flag_default(*flag, d.version) != "true";
  if (!off) return;
  finding.notes.push_back({"it is off unless it is given", {}});
  propose_removal(remove_words(unknown.words), /*safe=*/true, "delete it", finding);
}

void check(const Deployment& d, Reporter& reporter) {
  for (const RefusedWord& word : d.settings.refused_words) {
    if (word.kind != Refusal::kSwitchValue || is_quoted_switch(word)) continue;
    Diagnostic& finding = reporter.report(word.where, word.problem, exact_severity(d));
    finding.notes.push_back({"give " + word.option + " alone to turn it on", {}});
    propose_bare_switch(word, finding);
  }
  for (const UnknownFlag& unknown : d.settings.unknown_flags) check_negative(d, unknown, reporter);
}

}  // namespace

extern const Rule switch_given_a_value_rule;
const Rule switch_given_a_value_rule = {
    .id = "KVB417",
    .name = "switch-given-a-value",
    .severity = Severity::kError,
    .summary = "a switch takes no value",
    .doc = R"md(
## What it does
Finds values behind plain switches (`--enforce-eager=true`, `--enable-prefix-caching False`) and `--no-x` of flags
that have no such form in the engine's version.

## Why it matters
The parser stops: "ignored explicit argument 'true'", or "unrecognized arguments".

## How it is computed
From the form that each option has in each release; a few took a value for a while (enable-chunked-prefill from 0.5.3
to 0.8.4).

## Fix
The bare switch, or `--no-x` where the release has it.

## Since which engine version
All.

## References
vllm/engine/arg_utils.py of each release; Python's argparse.
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
        - --enable-prefix-caching=true  # expect: KVB417
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
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --enable-prefix-caching
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
