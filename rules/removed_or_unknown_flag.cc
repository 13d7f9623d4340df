#include <algorithm>
#include <array>
#include <optional>

#include "lint/engine/flags.h"
#include "lint/rule.h"
#include "rules/removal.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// Later releases do by themselves what these asked for, or have nothing left that they would
// change.
constexpr std::array<std::string_view, 16> kNeedless = {"disable-async-output-proc",
                                                        "disable-frontend-multiprocessing",
                                                        "disable-log-requests",
                                                        "engine-use-ray",
                                                        "max-context-len-to-capture",
                                                        "max-paddings",
                                                        "max-seq-len-to-capture",
                                                        "mm-cache-preprocessor",
                                                        "multi-step-stream-outputs",
                                                        "num-lookahead-slots",
                                                        "num-scheduler-steps",
                                                        "preemption-mode",
                                                        "swap-space",
                                                        "tokenizer-pool-size",
                                                        "tokenizer-pool-type",
                                                        "use-v2-block-manager"};

bool is_needless(std::string_view name) {
  return std::find(kNeedless.begin(), kNeedless.end(), name) != kNeedless.end();
}

struct Successor {
  std::string text;  ///< without dashes
  bool safe = false;
};

// What takes the place of the flag as it stands: another name, a key of an object, or for a switch
// a flag with its value ("mm-processor-cache-gb 0").
std::optional<Successor> successor_of(const Flag& flag, const UnknownFlag& unknown,
                                      const Deployment& d) {
  const Version version = d.version;
  const bool safe = !d.version_assumed;  // an older release may still take the flag
  constexpr Version kDottedKeys{0, 9, 0};
  const std::string& text = flag.replacement;
  const size_t mark = std::min(text.find_first_of(" ."), text.size());
  const Flag* base = text.empty() ? nullptr : find_flag(text.substr(0, mark));
  if (base == nullptr || !flag_exists(*base, version)) return std::nullopt;
  if (mark == text.size()) {
    // hf-overrides take the old value under a key of its own.
    const bool same = (flag.type == FlagType::kBool) == (base->type == FlagType::kBool);
    return same && text != "hf-overrides" ? std::optional(Successor{text, safe}) : std::nullopt;
  }
  if (!unknown.text.starts_with("--")) return std::nullopt;
  if (text[mark] == '.') {
    return version >= kDottedKeys ? std::optional(Successor{text, false}) : std::nullopt;
  }
  const std::string value = text.substr(mark + 1);
  if (flag.type != FlagType::kBool || value.find(' ') != std::string::npos) return std::nullopt;
  return Successor{text.substr(0, mark) + "=" + value, safe};
}

void propose_successor(const UnknownFlag& unknown, const Successor& successor,
                       Diagnostic& finding) {
  if (!unknown.where) return;
  const size_t name_size = std::min(unknown.text.find('='), unknown.text.size());
  const std::string_view file = unknown.where.file->bytes();
  // What a chart or a quoting made of other text is not in the file to be renamed.
  if (file.substr(unknown.where.range.begin, name_size) != unknown.text.substr(0, name_size))
    return;
  Fix fix;
  fix.safe = successor.safe;
  fix.description = "rename to --" + successor.text;
  Location name = unknown.where;
  name.range.end = name.range.begin + static_cast<uint32_t>(name_size);
  const bool dashes = unknown.text.starts_with("--");
  fix.edits.push_back({name, (dashes ? "--" : "") + successor.text});
  finding.fix = std::move(fix);
}

Diagnostic& report_known(const Deployment& d, const UnknownFlag& unknown, const Flag& flag,
                         Reporter& reporter) {
  const Severity severity = exact_severity(d);
  if (flag.removed && d.version >= *flag.removed) {
    Diagnostic& finding = reporter.report(
        unknown.where,
        "--" + flag.name + " was removed in vLLM " + flag.removed->str() + "; " + this_engine(d),
        severity);
    if (const auto successor = successor_of(flag, unknown, d)) {
      propose_successor(unknown, *successor, finding);
    }
    const bool needless = is_needless(flag.name);
    if (needless || flag.replacement.empty()) {
      propose_removal(remove_words(unknown.words), needless && !d.version_assumed,
                      "delete --" + flag.name, finding);
    }
    finding.notes.push_back({needless || flag.replacement.empty()
                                 ? "delete it"
                                 : "use --" + flag.replacement + " instead",
                             {}});
    return finding;
  }
  if (flag.since && d.version < *flag.since) {
    return reporter.report(
        unknown.where,
        "--" + flag.name + " came with vLLM " + flag.since->str() + "; " + this_engine(d),
        severity);
  }
  const bool batch = flag.batch_only && d.start.use != EngineUse::kBatch;
  return reporter.report(
      unknown.where,
      "--" + unknown.name +
          (batch ? " is an option of `vllm run-batch` only" : " is not accepted in this form") +
          "; " + this_engine(d),
      severity);
}

void check(const Deployment& d, Reporter& reporter) {
  for (const UnknownFlag& unknown : d.settings.unknown_flags) {
    // KVB418 and KVB417 say what these are.
    if (unknown.ambiguous || flag_without_negative(unknown.name, d.version)) continue;
    if (const Flag* flag = find_flag(unknown.name)) {
      report_known(d, unknown, *flag, reporter).subject = unknown.name;
      continue;
    }
    // Forks and plugins add flags of their own, so a name that no release had is only a warning.
    const std::string nearest = nearest_flag(unknown.name, d.version);
    Diagnostic& finding =
        reporter.report(unknown.where,
                        "no release of vLLM has --" + unknown.name +
                            (nearest.empty() ? "" : "; did you mean --" + nearest + "?"),
                        Severity::kWarning);
    finding.subject = unknown.name;
    if (!nearest.empty()) propose_successor(unknown, {nearest, false}, finding);
  }
}

}  // namespace

extern const Rule removed_or_unknown_flag_rule;
const Rule removed_or_unknown_flag_rule = {
    .id = "KVB401",
    .name = "removed-or-unknown-flag",
    .severity = Severity::kError,
    .summary = "this version of vLLM does not accept the flag",
    .doc = R"md(
## What it does
Reads the command line as the parser of the engine's version does and reports options that it does not have.

## Why it matters
The parser stops at the first of them ("unrecognized arguments") and the container restarts for ever. Copied
manifests carry removed flags for years.

## How it is computed
From the options of every release from 0.2 to 0.33, read off the released parsers. The version is that of the
image's tag or of `--engine`; without either the newest known release is taken and the finding is a warning, as it
is for names that no release had, since forks and plugins add their own.

## Fix
The successor that is named, or nothing: most removed flags had long been without effect.

## Since which engine version
All.

## References
vllm/engine/arg_utils.py and vllm/entrypoints/openai/cli_args.py of each release.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.18.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --swap-space=16          # expect: KVB401
        - --disable-log-requests   # expect: KVB401
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
      image: vllm/vllm-openai:v0.18.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
