#include <algorithm>

#include "lint/rule.h"
#include "rules/card_text.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::ElementType;

constexpr ComputeCapability kFirstWithBFloat16{8, 0};
constexpr Version kConverts{0, 9, 1};  // dtype auto takes what the card has

// _FLOAT16_NOT_SUPPORTED_MODELS of vllm/config/model.py, 0.9.1 to 0.32.
struct UnstableInHalf {
  std::string_view model_type;
  Version since;
  Version removed;
};
constexpr UnstableInHalf kUnstableInHalf[] = {
    {"gemma2", {0, 9, 1}, {99, 0, 0}},       {"gemma3", {0, 9, 1}, {99, 0, 0}},
    {"gemma3_text", {0, 10, 2}, {99, 0, 0}}, {"plamo2", {0, 9, 1}, {0, 27, 0}},
    {"glm4", {0, 9, 1}, {99, 0, 0}},
};

bool is_unstable_in_half(const Deployment& d) {
  return d.shape && std::any_of(std::begin(kUnstableInHalf), std::end(kUnstableInHalf),
                                [&](const UnstableInHalf& row) {
                                  return row.model_type == d.shape->model_type &&
                                         row.since <= d.version && d.version < row.removed;
                                });
}

void report_old_card(const Deployment& d, const std::string& stated, Reporter& reporter) {
  const bool explicit_dtype = stated == "bfloat16";
  Diagnostic& finding =
      reporter.report(explicit_dtype  ? d.where_of("dtype")
                      : d.model_where ? d.model_where
                                      : d.start.where,
                      card_text(d) + " has no bfloat16" +
                          (explicit_dtype ? ", and the engine stops instead of converting"
                                          : ", which this checkpoint is in; vLLM " +
                                                d.version.str() + " stops instead of converting"),
                      explicit_dtype ? Severity::kError : exact_severity(d));
  if (is_unstable_in_half(d)) {
    finding.notes.push_back(
        {"the engine refuses half for " + d.shape->model_type + ": use float32, or another card",
         {}});
  } else if (explicit_dtype) {
    propose_value(d, "dtype", "half", finding);
  } else {
    finding.notes.push_back({"add --dtype=half", {}});
  }
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string stated = d.settings.text("dtype");
  if ((stated == "half" || stated == "float16") && is_unstable_in_half(d)) {
    Diagnostic& finding =
        reporter.report(d.where_of("dtype"),
                        "the engine refuses dtype " + stated + " for " + d.shape->model_type +
                            " models, which are numerically unstable in it",
                        exact_severity(d));
    propose_value(d, "dtype", "bfloat16", finding);
    return;
  }
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0) return;
  if (d.gpu->capability >= kFirstWithBFloat16) return;
  const bool chosen = stated == "bfloat16";
  const bool inherited = (stated.empty() || stated == "auto") && !d.settings.has("dtype") &&
                         d.version < kConverts && d.shape &&
                         d.shape->dtype == ElementType::kBFloat16;
  if (chosen || inherited) report_old_card(d, stated, reporter);
}

}  // namespace

extern const Rule bfloat16_on_old_gpu_rule;
const Rule bfloat16_on_old_gpu_rule = {
    .id = "KVB311",
    .name = "bfloat16-on-old-gpu",
    .severity = Severity::kError,
    .summary = "a dtype that the GPU or the model does not take",
    .doc = R"md(
## What it does
Finds bfloat16 on cards before Ampere, and float16 for models that the engine does not run in it.

## Why it matters
vLLM stops: "Bfloat16 is only supported on GPUs with compute capability of at least 8.0", or "The model type 'gemma2'
does not support float16".

## How it is computed
`dtype` against the card's compute capability; without it the dtype of config.json, in releases that do not convert
(before 0.9.1). The models that refuse float16 are the engine's own list: Gemma 2 and 3, GLM-4, PLaMo 2.

## Fix
`dtype: half` on old cards, `bfloat16` for the models of the list. Where both meet, another card: float32 doubles the
memory.

## Since which engine version
All; the list of models from 0.9.1 on.

## References
`check_if_supports_dtype` in vllm/platforms/cuda.py, `_FLOAT16_NOT_SUPPORTED_MODELS` in vllm/config/model.py; vLLM issues
946, 1157, 9990.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct-AWQ
        - --max-model-len=8192
        - --dtype=bfloat16  # expect: KVB311
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct-AWQ
        - --max-model-len=8192
        - --dtype=half
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
