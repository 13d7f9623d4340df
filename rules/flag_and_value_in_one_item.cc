#include "lint/engine/flags.h"
#include "lint/read/text.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

// `--flag value` as one word becomes `--flag=value`, where that is what the engine would take.
void propose_equals(const Deployment& d, const RefusedWord& word, Diagnostic& finding) {
  const size_t blank = word.text.find_first_of(" \t");
  const size_t value_at = word.text.find_first_not_of(" \t", blank);
  if (blank == std::string::npos || value_at == std::string::npos || !word.where) return;
  const std::string_view name = std::string_view(word.text).substr(0, blank);
  const std::string_view value = std::string_view(word.text).substr(value_at);
  const Flag* flag = name.starts_with("--") ? find_flag(name.substr(2)) : nullptr;
  if (flag == nullptr || !flag_exists(*flag, d.version)) return;
  const FlagKind kind = flag_kind(*flag, d.version);
  if (kind.is_switch() || kind.form == FlagForm::kWords) return;
  if (value.find(" -") != std::string_view::npos || value.find_first_of("'") == 0) return;
  if (!value_problem(*flag, d.version, value).empty()) return;
  const std::string_view spelled = word.where.file->bytes().substr(
      word.where.range.begin, word.where.range.end - word.where.range.begin);
  if (spelled != word.text) return;
  const uint32_t begin = word.where.range.begin;
  const ByteRange gap{begin + static_cast<uint32_t>(blank),
                      begin + static_cast<uint32_t>(value_at)};
  finding.fix = Fix{true, "join them with =", {{{word.where.file, gap}, "="}}};
}

void check(const Deployment& d, Reporter& reporter) {
  for (const RefusedWord& word : d.settings.refused_words) {
    if (word.kind != Refusal::kJoinedWords) continue;
    const std::string flag = word.text.substr(0, word.text.find_first_of(" \t\n"));
    Diagnostic& finding = reporter.report(
        word.where, "one item holds " + flag + " and its value; the engine reads it as one word");
    finding.notes.push_back({"no shell splits the items of this list", {}});
    propose_equals(d, word, finding);
  }
}

}  // namespace

extern const Rule flag_and_value_in_one_item_rule;
const Rule flag_and_value_in_one_item_rule = {
    .id = "KVB420",
    .name = "flag-and-value-in-one-item",
    .severity = Severity::kError,
    .summary = "one item of a list holds a flag and its value",
    .doc = R"md(
## What it does
Finds items such as `"--max-model-len 8192"` where no shell splits them.

## Why it matters
The engine sees one word with a blank inside, which is no flag: "unrecognized arguments: --max-model-len 8192".

## How it is computed
From the words as they reach the engine; a command that goes through a shell is split first and is fine.

## Fix
Two items, or `=` between the two.

## Since which engine version
All.

## References
Python's argparse; Kubernetes API reference, Container, `args`.
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
        - "--max-model-len 8192"  # expect: KVB420
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
        - "--max-model-len=8192"
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
