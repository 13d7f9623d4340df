#include <algorithm>

#include "lint/engine/flags.h"
#include "lint/engine/quantization.h"
#include "lint/rule.h"
#include "rules/card_text.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::ElementType;
using memory::Weight;

bool has_weights(const Deployment& d, bool (*test)(const Weight&)) {
  return std::any_of(d.shape->weights.begin(), d.shape->weights.end(), test);
}

bool is_plain_fp8(const Weight& weight) {
  return weight.format.type == ElementType::kFloat8E4M3 && weight.format.group != 32;
}

bool is_mxfp8(const Weight& weight) {
  return weight.format.type == ElementType::kFloat8E4M3 && weight.format.group == 32;
}

bool is_four_bit_float(const Weight& weight) {
  return weight.format.type == ElementType::kFloat4E2M1;
}

// The name under which the engine looks up the method that a checkpoint states. ModelOpt's formats
// share a quant_method and have a method each (override_quantization_method in modelopt.py).
std::string method_of(const Deployment& d) {
  const std::string asked = d.settings.text("quantization");
  std::string method = asked.empty() ? d.shape->quantization : asked;
  if (method == "compressed_tensors") return "compressed-tensors";
  if (method == "auto-round" && d.version >= Version{0, 15, 0}) return "inc";
  if (method != "modelopt") return method;
  if (has_weights(d, is_mxfp8)) return "modelopt_mxfp8";
  if (!has_weights(d, is_four_bit_float)) return method;
  return has_weights(d, is_plain_fp8) ? "modelopt_mixed" : "modelopt_fp4";
}

// Rows of the table for formats of compressed-tensors. Experts have methods of their own.
struct Format {
  const char* row;
  bool (*matches)(const Weight&);
};
constexpr Format kFormats[] = {
    {"compressed-tensors/fp8",
     [](const Weight& w) { return w.format.type == ElementType::kFloat8E4M3; }},
    {"compressed-tensors/packed",
     [](const Weight& w) { return w.format.type == ElementType::kInt4; }},
    {"compressed-tensors/int8",
     [](const Weight& w) { return w.format.type == ElementType::kInt8; }},
    {"compressed-tensors/float4", is_four_bit_float},
};

// The first later release in which the method runs on the card; nullopt when none does.
std::optional<Version> first_release_on(const QuantizationMethod& method, const Deployment& d) {
  for (Version v{0, d.version.minor, 0}; v <= newest_version(); ++v.minor) {
    const auto least = method.least_capability(v);
    if (d.version < v && method.exists(v) && least && *least <= d.gpu->capability) return v;
  }
  return std::nullopt;
}

bool check_card(const Deployment& d, std::string_view name, Reporter& reporter) {
  const QuantizationMethod* method = find_quantization_method(name);
  if (method == nullptr || !method->exists(d.version)) return false;
  const auto least = method->least_capability(d.version);
  if (!least || d.gpu->capability >= *least) return false;
  Diagnostic& finding = reporter.report(
      d.settings.has("quantization") ? d.where_of("quantization")
      : d.model_where                ? d.model_where
                                     : d.start.where,
      std::string(name) + " needs compute capability " + capability_text(*least) + " in vLLM " +
          d.version.str() + "; " + d.gpu->name + " has " + capability_text(d.gpu->capability),
      exact_severity(d));
  const std::optional<Version> later = first_release_on(*method, d);
  finding.notes.push_back({later ? "vLLM " + later->str() + " runs it on this card"
                                 : "GPTQ checkpoints run from compute capability 6.0 on",
                           {}});
  return true;
}

bool check_formats(const Deployment& d, Reporter& reporter) {
  return std::any_of(std::begin(kFormats), std::end(kFormats), [&](const Format& format) {
    const auto& weights = d.shape->weights;
    const bool here = std::any_of(weights.begin(), weights.end(), [&](const Weight& weight) {
      return weight.linear && !weight.expert && weight.encoder == memory::Encoder::kNone &&
             format.matches(weight);
    });
    return here && check_card(d, format.row, reporter);
  });
}

// A method that the file forces keeps its own kernels, where the engine would have taken Marlin:
// "torch.bfloat16 is not supported for quantization method awq".
void check_dtype(const Deployment& d, const std::string& name, Reporter& reporter) {
  const QuantizationMethod* method = find_quantization_method(name);
  if (method == nullptr || !method->exists(d.version)) return;
  if (d.settings.text("quantization") != name || d.engine.dtype != ElementType::kBFloat16) return;
  if (method->takes_dtype("bfloat16", d.version)) return;
  Diagnostic& finding =
      reporter.report(d.where_of("quantization"),
                      "quantization " + name + " does not take bfloat16 in vLLM " + d.version.str(),
                      exact_severity(d));
  finding.notes.push_back(
      {"without the flag the engine takes its Marlin kernels, which do; or set dtype to half", {}});
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0 || !d.shape) return;
  const std::string name = method_of(d);
  if (check_card(d, name, reporter)) return;
  if (name == "compressed-tensors" && check_formats(d, reporter)) return;
  check_dtype(d, name, reporter);
}

}  // namespace

extern const Rule quantisation_unsupported_on_gpu_rule;
const Rule quantisation_unsupported_on_gpu_rule = {
    .id = "KVB310",
    .name = "quantisation-unsupported-on-gpu",
    .severity = Severity::kError,
    .summary = "the quantisation method does not run on this GPU",
    .doc = R"md(
## What it does
Compares the compute capability of the GPU with what the quantisation method of the checkpoint, or of
`--quantization`, needs in the engine's release.

## Why it matters
vLLM stops: "The quantization method awq is not supported for the current GPU. Minimum capability: 75. Current
capability: 70."

## How it is computed
From the least capability that each release states for each method, and, for compressed-tensors, for the format of the
weights. FP8 on an A100 passes, since it runs with 16-bit activations there. A forced `awq` or `gptq` is also compared
with the dtype, which has to be float16 until 0.24 and 0.22.

## Fix
A checkpoint in another format (GPTQ runs from compute capability 6.0 on), a newer release, or no `--quantization`.

## Since which engine version
All.

## References
`get_min_capability` in vllm/model_executor/layers/quantization; vLLM issues 1282, 4202, 6979, 14154.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-v100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct-AWQ  # expect: KVB310
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-v100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
