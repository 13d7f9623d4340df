#include <algorithm>

#include "lint/engine/flags.h"
#include "lint/engine/nearest.h"
#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/model_facts.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr std::string_view kFlag = "kv-cache-dtype";

bool contains(const std::vector<std::string_view>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The first release that takes the value; nullopt when none does.
std::optional<Version> first_with(const Flag& flag, std::string_view value) {
  for (uint16_t minor = 2; minor <= newest_version().minor; ++minor) {
    if (contains(flag_choices(flag, Version{0, minor, 0}), value)) return Version{0, minor, 0};
  }
  return std::nullopt;
}

// What holds as few bits and is there; "auto" where nothing is near.
std::string replacement(const std::vector<std::string_view>& choices, std::string_view value) {
  if (value == "int8") return "fp8";
  const bool small = value.find("fp8") != value.npos || value.find('4') != value.npos ||
                     value.find('3') != value.npos || value.find("int8") != value.npos;
  if (small && contains(choices, "fp8")) return "fp8";
  const std::string near(nearest(value, choices));
  return near.empty() ? "auto" : near;
}

void report_unknown(const Deployment& d, const Flag& flag, const std::string& value,
                    Reporter& reporter) {
  const std::vector<std::string_view> choices = flag_choices(flag, d.version);
  const std::optional<Version> since = first_with(flag, value);
  const std::string known = !since               ? "; no release does"
                            : d.version < *since ? "; it came with " + since->str()
                                                 : "";
  // From 0.33 on a plugin may bring a dtype of its own.
  const bool certain = !d.version_assumed && d.version < Version{0, 33, 0};
  Diagnostic& finding =
      reporter.report(d.where_of(kFlag),
                      "vLLM " + d.version.str() + " does not know kv-cache-dtype " + value + known,
                      certain ? Severity::kError : Severity::kWarning);
  std::string list;
  for (const std::string_view choice : choices)
    list += (list.empty() ? "" : ", ") + std::string(choice);
  finding.notes.push_back({"it takes " + list, {}});
  propose_value(d, kFlag, replacement(choices, value), finding);
}

// Known to the parser, but to no backend yet: up to 0.14 they accept "auto" alone beside 8 bits,
// and the one model family that sets bfloat16 back to it has indexers
// (DeepseekV32ForCausalLM in vllm/model_executor/models/config.py).
void check_bfloat16(const Deployment& d, Reporter& reporter) {
  if (d.version < Version{0, 11, 1} || d.version >= Version{0, 15, 0} || !backend_is_known(d)) {
    return;
  }
  Diagnostic& finding = reporter.report(
      d.where_of(kFlag),
      "kv-cache-dtype bfloat16 is for models with sparse latent attention alone in vLLM " +
          d.version.str() + "; no attention backend takes it for " + d.shape->architecture,
      exact_severity(d));
  propose_value(d, kFlag, "auto", finding);
}

void check(const Deployment& d, Reporter& reporter) {
  const Setting* stated = d.settings.find(kFlag);
  const Flag* flag = find_flag(kFlag);
  if (stated == nullptr || !stated->known || flag == nullptr) return;
  const std::vector<std::string_view> choices = flag_choices(*flag, d.version);
  if (choices.empty()) return;
  if (!contains(choices, stated->value)) return report_unknown(d, *flag, stated->value, reporter);
  if (stated->value == "bfloat16") check_bfloat16(d, reporter);
}

}  // namespace

extern const Rule kv_dtype_unknown_for_version_rule;
const Rule kv_dtype_unknown_for_version_rule = {
    .id = "KVB207",
    .name = "kv-dtype-unknown-for-version",
    .severity = Severity::kError,
    .summary = "this version of vLLM does not know the kv-cache-dtype",
    .doc = R"md(
## What it does
Compares `kv-cache-dtype` with the values that the release takes.

## Why it matters
The parser stops at a value that it does not know, and the container restarts for ever.

## How it is computed
From the choices of each released parser. `bfloat16` is a choice from 0.11 on, but up to 0.14 no backend takes it
except for models with sparse latent attention (DeepSeek-V3.2).

## Fix
A value that is there: `fp8` for formats of 8 bits and fewer, `auto` otherwise.

## Since which engine version
0.3.0, the first with the flag. From 0.33 on plugins may add values, so an unknown one is a warning.

## References
vllm/config/cache.py of each release.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.15.1
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=turboquant_4bit_nc  # expect: KVB207
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.15.1
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
