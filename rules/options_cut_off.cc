#include <algorithm>

#include "lint/rule.h"

namespace kvbudget {
namespace {

// From the last byte of the command to the first option that is cut off.
Location gap_of(const EngineStart& start) {
  const Location first = start.cut_off.front().text.location();
  Location last = start.argv.empty() ? start.where : start.argv.back().text.location();
  if (!first || last.file != first.file || last.range.end >= first.range.begin) return {};
  const char quote = last.file->bytes()[last.range.end];
  const uint32_t begin = last.range.end + (quote == '"' || quote == '\'' ? 1 : 0);
  return {first.file, {begin, first.range.begin}};
}

std::string reason_of(std::string_view gap) {
  const bool goes_on = gap.find('\\') != std::string_view::npos;
  if (gap.find('#') != std::string_view::npos) return "a comment ends the command";
  if (!goes_on) return "the line above lacks a backslash";
  const size_t behind = gap.find('\\') + 1;
  return gap.substr(behind, 1) == "\n" || gap.substr(behind, 1) == "\r"
             ? "an empty line ends the command"
             : "behind the backslash stands a blank";
}

// One backslash and one line break in place of what stands there, before the option's own indent.
void propose_continuation(const Location& gap, Diagnostic& finding) {
  const std::string_view text =
      gap.file->bytes().substr(gap.range.begin, gap.range.end - gap.range.begin);
  const size_t line = text.rfind('\n');
  if (line == std::string_view::npos) return;
  if (text.find_first_not_of(" \t\r\n\\") != std::string_view::npos) return;
  const size_t behind = text.find('\\') == std::string_view::npos ? 0 : text.find('\\') + 1;
  const ByteRange range{gap.range.begin + static_cast<uint32_t>(behind),
                        gap.range.begin + static_cast<uint32_t>(line) + 1};
  finding.fix =
      Fix{true, "continue the command", {{{gap.file, range}, behind == 0 ? " \\\n" : "\n"}}};
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.start.cut_off.empty()) return;
  const auto options =
      std::count_if(d.start.cut_off.begin(), d.start.cut_off.end(),
                    [](const Word& word) { return word.text.view().starts_with('-'); });
  const std::string count = std::to_string(options) + (options == 1 ? " option" : " options");
  const Location gap = gap_of(d.start);
  std::string message =
      count + " from " + d.start.cut_off.front().text.str() + " on never reach the engine";
  if (gap) {
    message += ": " + reason_of(gap.file->bytes().substr(gap.range.begin,
                                                         gap.range.end - gap.range.begin));
  }
  Diagnostic& finding =
      reporter.report(d.start.cut_off.front().text.location(), std::move(message));
  if (gap) propose_continuation(gap, finding);
}

}  // namespace

extern const Rule options_cut_off_rule;
const Rule options_cut_off_rule = {
    .id = "KVB421",
    .name = "options-cut-off",
    .severity = Severity::kError,
    .summary = "options on the lines below never reach the engine",
    .doc = R"md(
## What it does
Finds options that stand on lines of their own behind a command that has already ended: a backslash is missing, a
blank follows it, or an empty line or a comment stands within the command.

## Why it matters
The engine starts without them, with its defaults; the shell takes `--max-model-len` for a command of its own and says
"command not found" only after the engine has stopped.

## How it is computed
The script is read as the shell reads it. No command begins with a dash, so one that does and follows the engine's
was meant to be part of it.

## Fix
The backslash.

## Since which engine version
All.

## References
POSIX.1-2017, Shell Command Language, section 2.2.1.
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
      command: ["/bin/sh", "-c"]
      args:
        - |
          vllm serve Qwen/Qwen2.5-7B-Instruct
            --max-model-len 8192  # expect: KVB421
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
      command: ["/bin/sh", "-c"]
      args:
        - |
          vllm serve Qwen/Qwen2.5-7B-Instruct \
            --max-model-len 8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
