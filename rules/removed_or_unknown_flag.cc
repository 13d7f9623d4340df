#include "lint/engine/flags.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

std::string this_engine(const Deployment& d) {
  return d.version_assumed ? "the newest release known here is " + d.version.str()
                           : "this is vLLM " + d.version.str();
}

// A drop-in successor: a name alone, without a value or a key of its own, that this version has.
bool is_drop_in(const std::string& replacement, Version version) {
  if (replacement.empty() || replacement.find_first_of(" .") != std::string::npos) return false;
  const Flag* flag = find_flag(replacement);
  return flag != nullptr && flag_exists(*flag, version);
}

void propose_successor(const UnknownFlag& unknown, const std::string& successor,
                       Diagnostic& finding) {
  if (!unknown.where) return;
  const size_t name_size = std::min(unknown.text.find('='), unknown.text.size());
  const std::string_view file = unknown.where.file->bytes();
  // What a chart or a quoting made of other text is not in the file to be renamed.
  if (file.substr(unknown.where.range.begin, name_size) != unknown.text.substr(0, name_size))
    return;
  Fix fix;
  fix.safe = true;
  fix.description = "rename to --" + successor;
  Location name = unknown.where;
  name.range.end = name.range.begin + static_cast<uint32_t>(name_size);
  const bool dashes = unknown.text.starts_with("--");
  fix.edits.push_back({name, (dashes ? "--" : "") + successor});
  finding.fix = std::move(fix);
}

Diagnostic& report_known(const Deployment& d, const UnknownFlag& unknown, const Flag& flag,
                         Reporter& reporter) {
  const Severity severity = d.version_assumed ? Severity::kWarning : Severity::kError;
  if (flag.removed && d.version >= *flag.removed) {
    Diagnostic& finding = reporter.report(
        unknown.where,
        "--" + flag.name + " was removed in vLLM " + flag.removed->str() + "; " + this_engine(d),
        severity);
    if (is_drop_in(flag.replacement, d.version)) {
      propose_successor(unknown, flag.replacement, finding);
    }
    finding.notes.push_back(
        {flag.replacement.empty() ? "delete it" : "use --" + flag.replacement + " instead", {}});
    return finding;
  }
  if (flag.since && d.version < *flag.since) {
    return reporter.report(
        unknown.where,
        "--" + flag.name + " came with vLLM " + flag.since->str() + "; " + this_engine(d),
        severity);
  }
  return reporter.report(unknown.where,
                         "--" + unknown.name + " is not accepted in this form; " + this_engine(d),
                         severity);
}

void check(const Deployment& d, Reporter& reporter) {
  for (const UnknownFlag& unknown : d.settings.unknown_flags) {
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
    if (!nearest.empty()) propose_successor(unknown, nearest, finding);
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
