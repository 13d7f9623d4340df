#include <cmath>

#include "lint/engine/flags.h"
#include "lint/engine/numbers.h"
#include "lint/memory/format.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// What an upper-case suffix would have made of "128k".
struct Suffix {
  uint64_t number = 0;
  int power = 0;
  uint64_t binary() const { return number * static_cast<uint64_t>(std::pow(1024.0, power) + 0.5); }
};

std::optional<Suffix> decimal_suffix(std::string_view value) {
  const std::string_view text = trimmed(value);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  constexpr std::string_view kSuffixes = "kmgt";
  if (digits == 0 || digits > 6 || digits + 1 != text.size()) return std::nullopt;
  const size_t power = kSuffixes.find(text.back());
  if (power == std::string_view::npos) return std::nullopt;
  return Suffix{static_cast<uint64_t>(*python_int(text.substr(0, digits))),
                static_cast<int>(power) + 1};
}

// 10k tokens are ten thousand; 128k are what models and batch sizes are counted in.
bool looks_binary(const Suffix& suffix, const Deployment& d) {
  const uint64_t n = suffix.number;
  const bool power_of_two = n != 0 && (n & (n - 1)) == 0;
  return power_of_two || n % 32 == 0 || suffix.binary() == d.context.limit_tokens;
}

void check_suffixes(const Deployment& d, Reporter& reporter) {
  for (const auto& [name, setting] : d.settings.all()) {
    const Flag* flag = setting.known ? find_flag(name) : nullptr;
    if (flag == nullptr) continue;
    const FlagType type = flag_kind(*flag, d.version).type;
    if (type != FlagType::kHumanInt && type != FlagType::kHumanIntAuto) continue;
    const std::optional<Suffix> suffix = decimal_suffix(setting.value);
    const std::optional<int64_t> value = d.settings.integer(name);
    if (!suffix || !value || !looks_binary(*suffix, d)) continue;
    const uint64_t means = static_cast<uint64_t>(*value);
    Diagnostic& finding = reporter.report(
        d.where_of(name), name + " " + setting.value + " means " + memory::with_commas(means) +
                              ", not " + memory::with_commas(suffix->binary()));
    finding.notes.push_back(
        {"lower-case suffixes are powers of 1000, upper-case ones of 1024", {}});
    propose_value(d, name, std::to_string(means), finding);
    if (finding.fix) finding.fix->safe = true;
  }
}

std::string given_twice(const Overridden& lost, const Setting& winner) {
  const bool file = lost.lost.origin == Origin::kConfigFile && winner.origin == Origin::kFlag;
  if (file) {
    return lost.name + " " + lost.lost.value + " of the config file gives way to " + winner.value +
           " of the command line";
  }
  return lost.name + " is given twice; the engine takes the last, " + winner.value + ", not " +
         lost.lost.value;
}

// Branches of a template stand side by side, and one of them is taken.
bool is_template(const Deployment& d) {
  if (d.start.file == nullptr) return false;
  const std::string_view text = d.start.file->bytes();
  return text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos;
}

void check(const Deployment& d, Reporter& reporter) {
  check_suffixes(d, reporter);
  if (is_template(d)) return;
  for (const Overridden& lost : d.settings.overridden) {
    const Setting* winner = d.settings.find(lost.name);
    if (winner == nullptr || !winner->known || !lost.lost.known) continue;
    if (winner->value == lost.lost.value || !lost.lost.where || lost.name == "config") continue;
    Diagnostic& finding = reporter.report(lost.lost.where, given_twice(lost, *winner));
    finding.notes.push_back({"the value in force", winner->where});
  }
}

}  // namespace

extern const Rule value_parsing_trap_rule;
const Rule value_parsing_trap_rule = {
    .id = "KVB412",
    .name = "value-parsing-trap",
    .severity = Severity::kWarning,
    .summary = "a value that means something else than it seems to",
    .doc = R"md(
## What it does
Finds lower-case suffixes of numbers that were meant in powers of 1024, and settings given twice with different
values.

## Why it matters
`128k` is 128,000 tokens and not the 131,072 that a model takes. Of two values the engine takes the last, and the
command line before its config file, with no more than a line in the log.

## How it is computed
With the parser's own rules: k, m, g and t are powers of 1000, K, M, G and T of 1024. A suffix is reported where the
number is a power of two, a multiple of 32, or the model's own length; `10k` is left alone.

## Fix
Spell the number out. The fix writes what the suffix means today; the note names the other reading.

## Since which engine version
0.8.4 for max-model-len, 0.9.1 for max-num-batched-tokens; of two values the last wins in all.

## References
vllm/utils/argparse_utils.py; vllm/engine/arg_utils.py, `human_readable_int`.
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
        - --max-model-len=16k  # expect: KVB412
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
        - --max-model-len=16384
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
