#include <algorithm>
#include <array>

#include "lint/memory/format.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/removal.h"

namespace kvbudget {
namespace {

constexpr std::string_view kGuard = "VLLM_ALLOW_LONG_MAX_MODEL_LEN";

// Families whose positions are rows of a table: behind its end there is nothing to read.
bool has_learned_positions(const memory::ModelShape& shape) {
  constexpr std::array<std::string_view, 5> kTypes = {"bart", "gpt2", "gpt_bigcode", "opt",
                                                      "whisper"};
  return std::find(kTypes.begin(), kTypes.end(), shape.model_type) != kTypes.end();
}

bool changes_length(const Deployment& d) {
  return d.settings.has("hf-overrides") || d.settings.has("rope-scaling") ||
         d.engine.auto_fit_max_model_len;
}

void check(const Deployment& d, Reporter& reporter) {
  const EnvVar* guard = d.env(kGuard);
  if (guard == nullptr || !guard->known || !guard->name.location()) return;
  const std::string value = lower(trimmed(guard->value.view()));
  if (value != "1" && value != "true") return;
  const Location where = guard->name.location();
  const uint64_t limit = d.context.limit_tokens;
  if (!d.shape || !d.context.known || changes_length(d)) {
    reporter.report(
        where, std::string(kGuard) + " lets max-model-len exceed what the model was built for");
    return;
  }
  if (d.engine.max_model_len <= limit) {
    Diagnostic& finding =
        reporter.report(where,
                        std::string(kGuard) + " is needless: max-model-len stays within the " +
                            memory::with_commas(limit) + " tokens of " + d.model,
                        Severity::kInfo);
    propose_removal(remove_variable(*guard), /*safe=*/true, "delete it", finding);
    return;
  }
  const bool learned = has_learned_positions(*d.shape);
  Diagnostic& finding = reporter.report(
      where,
      "the guard is off and max-model-len is " + memory::with_commas(d.engine.max_model_len) +
          "; beyond " + memory::with_commas(limit) + " tokens " + d.model +
          (learned ? " reads positions that it does not have" : " answers nonsense or NaN"),
      learned ? Severity::kError : Severity::kWarning);
  finding.notes.push_back(
      {"where its authors document it, scale the rotary embedding by "
       "hf-overrides instead",
       d.where_of("max-model-len")});
}

}  // namespace

extern const Rule long_length_guard_disabled_rule;
const Rule long_length_guard_disabled_rule = {
    .id = "KVB405",
    .name = "long-length-guard-disabled",
    .severity = Severity::kWarning,
    .summary = "the check of the context length is switched off",
    .doc = R"md(
## What it does
Finds `VLLM_ALLOW_LONG_MAX_MODEL_LEN=1`, which turns the engine's check of the context length into a warning.

## Why it matters
A model with rotary embedding answers nonsense or NaN beyond the length that it was trained for; one with learned
positions reads out of bounds. It is an info where the length stays within the model's own.

## How it is computed
The length in force against what config.json gives the model (as KVB404 does).

## Fix
Remove it; set rope scaling where the model's authors document it.

## Since which engine version
0.6.

## References
vllm/config/model.py, `_get_and_verify_max_len`; vLLM issues 7080, 20904.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=65536
      env:
        - {name: VLLM_ALLOW_LONG_MAX_MODEL_LEN, value: "1"}  # expect: KVB405
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
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=32768
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
