#include <algorithm>
#include <array>

#include "lint/engine/envs.h"
#include "lint/engine/nearest.h"
#include "lint/rule.h"
#include "rules/removal.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// Where a setting went that was a variable: vllm/envs.py, vllm/engine/arg_utils.py and
// vllm/config, 0.11 to 0.33.
struct Successor {
  std::string_view variable;
  std::string_view use;
};
constexpr std::array kSuccessors = {
    Successor{"VLLM_ALL2ALL_BACKEND", "--all2all-backend"},
    Successor{"VLLM_ATTENTION_BACKEND", "--attention-backend"},
    Successor{"VLLM_DISABLE_FLASHINFER_PREFILL", "--attention-config.disable_flashinfer_prefill"},
    Successor{"VLLM_FLASH_ATTN_VERSION", "--attention-config.flash_attn_version"},
    Successor{"VLLM_FLASHINFER_MOE_BACKEND", "--moe-backend"},
    Successor{"VLLM_MM_INPUT_CACHE_GIB", "--mm-processor-cache-gb"},
    Successor{"VLLM_TORCH_PROFILER_DIR", "--profiler-config.torch_profiler_dir"},
    Successor{"VLLM_USE_TRTLLM_ATTENTION", "--attention-config.use_trtllm_attention"},
};

// Variables of plugins and of the platform: VLLM_SERVICE_HOST and VLLM_PORT_8000_TCP are the
// kubelet's, for a Service named vllm.
bool is_of_others(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes = {
      "VLLM_ASCEND_", "VLLM_HPU_", "VLLM_OMNI_", "VLLM_SPYRE_",
      "VLLM_NEURON_", "VLLM_TT_",  "VLLM_METAL_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         name.find("_SERVICE_") != std::string_view::npos ||
         name.find("_TCP") != std::string_view::npos;
}

// Releases before 0.10 were read at the end of each minor: what went within one may still be in its
// first.
bool is_gone(const EnvVariable& variable, Version version) {
  if (!variable.removed || version < *variable.removed) return false;
  const bool first = version == *variable.removed && version.patch == 0;
  return !first || version.minor >= 10;
}

// A variable that the file mentions once is read by nothing else in it.
bool is_mentioned_once(const EnvVar& variable) {
  const Location where = variable.name.location();
  const std::string_view text = where.file->bytes();
  const std::string_view name = variable.name.view();
  const size_t first = text.find(name);
  return first != std::string_view::npos && text.find(name, first + 1) == std::string_view::npos;
}

// validate_environ of vllm/envs.py.
bool stops_at_unknown(const Deployment& d) {
  return d.version >= Version{0, 17, 0} && d.settings.is_true("fail-on-environ-validation");
}

void report_gone(const Deployment& d, const EnvVar& set, const EnvVariable& known,
                 Reporter& reporter) {
  const Severity severity = stops_at_unknown(d) ? exact_severity(d)
                            : d.version_assumed ? Severity::kInfo
                                                : Severity::kWarning;
  Diagnostic& finding = reporter.report(
      set.name.location(),
      set.name.str() + " has no effect since vLLM " + known.removed->str() + "; " + this_engine(d),
      severity);
  for (const Successor& successor : kSuccessors) {
    if (successor.variable != set.name.view()) continue;
    finding.notes.push_back({"use " + std::string(successor.use), {}});
  }
  if (!is_mentioned_once(set)) return;
  // An older release than the assumed one may still read it.
  propose_removal(remove_variable(set), !d.version_assumed, "delete " + set.name.str(), finding);
}

// Two letters at most, next to each other; words such as MODEL and NAME make far names look near.
bool differs_by_a_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  const size_t head =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  size_t tail = 0;
  while (tail < a.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return head + tail + 2 >= b.size();
}

// Names that no release had are the user's own unless they look like a slip.
void report_unknown(const Deployment& d, const EnvVar& set, Reporter& reporter) {
  std::vector<std::string_view> names;
  for (const EnvVariable& variable : all_envs()) {
    if (env_exists(variable.name, d.version)) names.push_back(variable.name);
  }
  const std::string_view meant = nearest(set.name.view(), names);
  if (stops_at_unknown(d)) {
    reporter.report(
        set.name.location(),
        "vLLM does not read " + set.name.str() + ", and fail-on-environ-validation refuses it",
        exact_severity(d));
    return;
  }
  if (!differs_by_a_slip(set.name.view(), meant) || !is_mentioned_once(set)) return;
  reporter.report(set.name.location(), "vLLM does not read " + set.name.str() + "; did you mean " +
                                           std::string(meant) + "?");
}

void check(const Deployment& d, Reporter& reporter) {
  for (const EnvVar& set : d.start.env) {
    if (!set.name.view().starts_with("VLLM_") || !set.name.location()) continue;
    if (is_of_others(set.name.view())) continue;
    const EnvVariable* known = find_env(set.name.view());
    if (known == nullptr) {
      report_unknown(d, set, reporter);
    } else if (is_gone(*known, d.version)) {
      report_gone(d, set, *known, reporter);
    } else if (known->since && d.version < *known->since) {
      reporter.report(set.name.location(), set.name.str() + " came with vLLM " +
                                               known->since->str() + "; " + this_engine(d));
    }
  }
}

}  // namespace

extern const Rule removed_or_ignored_env_rule;
const Rule removed_or_ignored_env_rule = {
    .id = "KVB402",
    .name = "removed-or-ignored-env",
    .severity = Severity::kWarning,
    .summary = "vLLM does not read the environment variable",
    .doc = R"md(
## What it does
Finds variables that the engine's version does not read: removed, not there yet, or misspelled.

## Why it matters
Nothing fails. The attention backend or the engine that the variable asked for is simply not used; from 0.17 on the
log has one line, "Unknown vLLM environment variable detected".

## How it is computed
From vllm/envs.py of every release. Variables of plugins (VLLM_ASCEND_ and others) and those that Kubernetes sets for
a Service are left alone; so are names that no release had, unless one that is read differs by a slip.

## Fix
The option that took its place, or nothing.

## Since which engine version
All. VLLM_USE_V1 went with 0.11.1, VLLM_ATTENTION_BACKEND with 0.15.0, VLLM_TORCH_PROFILER_ variables with 0.16.0.

## References
vllm/envs.py of each release; vLLM issues 28204, 32812, 33581.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      env:
        - {name: VLLM_ATTENTION_BACKEND, value: "FLASHINFER"}  # expect: KVB402
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
      image: vllm/vllm-openai:v0.20.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --attention-backend=FLASHINFER
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
