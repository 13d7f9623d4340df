#include "lint/engine/flags.h"
#include "lint/engine/numbers.h"
#include "lint/engine/options.h"
#include "lint/rule.h"
#include "rules/meant_value.h"
#include "rules/propose.h"
#include "rules/version_text.h"
#include "rules/yaml_values.h"

namespace kvbudget {
namespace {

bool takes_suffixes(FlagType type) {
  return type == FlagType::kHumanInt || type == FlagType::kHumanIntAuto;
}

// "max-model-len, max-num-batched-tokens": where that release takes 1k.
std::string flags_with_suffixes(Version version) {
  std::string names;
  for (const Flag& flag : all_flags()) {
    if (!flag_exists(flag, version) || !takes_suffixes(flag_kind(flag, version).type)) continue;
    names += (names.empty() ? "" : ", ") + flag.name;
  }
  return names;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

void report_choice(const Deployment& d, const RefusedValue& refused, const Flag& flag,
                   Reporter& reporter) {
  const std::vector<std::string_view> choices = flag_choices(flag, d.version);
  Diagnostic& finding = reporter.report(
      d.where_of(refused.name),
      "--" + refused.name + " does not take " + refused.setting->value + "; " + this_engine(d),
      exact_severity(d));
  finding.notes.push_back({"it takes " + joined(choices), {}});
  const std::string meant = meant_value(d, refused, flag);
  if (!meant.empty()) propose_value(d, refused.name, meant, finding);
}

std::string complaint(const RefusedValue& refused, FlagType type) {
  const std::string given =
      refused.setting->value.empty() ? "an empty text" : refused.setting->value;
  const std::string takes = "--" + refused.name + " takes ";
  if (refused.problem == "not an integer")
    return takes + "a whole number; " + given + " is refused";
  if (refused.problem == "not a number") return takes + "a number; " + given + " is refused";
  if (takes_suffixes(type) && refused.problem.starts_with("not "))
    return takes + "a number of tokens or bytes; " + given + " is refused";
  if (refused.problem == "not JSON") return takes + "JSON; " + given + " is none";
  return "--" + refused.name + " " + given + " is " + refused.problem;
}

void report_value(const Deployment& d, const RefusedValue& refused, Reporter& reporter) {
  const Flag& flag = *find_flag(refused.name);
  const FlagType type = flag_kind(flag, d.version).type;
  if (type == FlagType::kEnum) return report_choice(d, refused, flag, reporter);
  Diagnostic& finding =
      reporter.report(d.where_of(refused.name), complaint(refused, type), exact_severity(d));
  if (type == FlagType::kInt && human_int(refused.setting->value, FlagType::kHumanInt, d.version)) {
    finding.notes.push_back({"suffixes are for " + flags_with_suffixes(d.version) + " only", {}});
  }
  const std::string meant = meant_value(d, refused, flag);
  if (!meant.empty()) propose_value(d, refused.name, meant, finding);
}

// What an abbreviation fits, as the parser's own message lists it.
std::string fitting(const Deployment& d, const UnknownFlag& unknown) {
  const OptionTable options(d.version, d.start.serve, d.start.use);
  std::string names;
  for (const Option& option : options.with_prefix("--" + unknown.name)) {
    names += (names.empty() ? "" : ", ") + option.text;
  }
  return names;
}

// KVB413 knows more of ranks and KVB207 of cache dtypes.
bool is_another_rules(const RefusedValue& refused) {
  return refused.name == "kv-cache-dtype" ||
         (refused.name == "max-lora-rank" && python_int(refused.setting->value));
}

void check(const Deployment& d, Reporter& reporter) {
  for (const RefusedWord& word : d.settings.refused_words) {
    if (word.kind == Refusal::kJoinedWords || word.kind == Refusal::kSwitchValue) continue;
    const bool names_word = word.kind == Refusal::kStrayWord;
    reporter.report(word.where, names_word ? word.problem + ": " + word.text : word.problem,
                    exact_severity(d));
  }
  for (const RefusedValue& refused : refused_values(d.settings)) {
    if (!is_null_value(refused) && !is_another_rules(refused)) report_value(d, refused, reporter);
  }
  for (const UnknownFlag& unknown : d.settings.unknown_flags) {
    if (!unknown.ambiguous) continue;
    reporter.report(unknown.where,
                    "--" + unknown.name + " fits several flags: " + fitting(d, unknown),
                    exact_severity(d));
  }
}

}  // namespace

extern const Rule value_rejected_rule;
const Rule value_rejected_rule = {
    .id = "KVB418",
    .name = "value-rejected",
    .severity = Severity::kError,
    .summary = "a value that this version of vLLM refuses",
    .doc = R"md(
## What it does
Reports values that the parser of the engine's version does not take: no number (`8,192`, `1e4`, `1k` where suffixes
are not read), none of the choices (`--dtype fp16`), no JSON, `auto` for max-model-len before 0.14.0, an abbreviation
that fits several flags, a word that no flag takes; and values outside the range that the engine checks
(`--gpu-memory-utilization 90`).

## Why it matters
The engine stops before it loads anything and the container restarts for ever.

## How it is computed
From the type and the choices of each flag in each release, read off the released parsers, and the ranges of the
configuration classes.

## Fix
The number spelled out, or the nearest choice.

## Since which engine version
All; suffixes from 0.8.4 on, `auto` from 0.14.0.

## References
vllm/engine/arg_utils.py, vllm/utils/argparse_utils.py and vllm/config of each release.
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
        - --max-num-seqs=1k  # expect: KVB418
        - --dtype=fp16        # expect: KVB418
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
        - --max-num-seqs=64
        - --dtype=half
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
