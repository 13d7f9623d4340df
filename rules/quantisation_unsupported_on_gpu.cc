#include <algorithm>

#include "lint/engine/quantization.h"
#include "lint/rule.h"
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

// What a scheme of compressed-tensors wants beyond the method: get_min_capability of
// vllm/model_executor/layers/quantization/compressed_tensors/schemes, 0.5.3 to 0.32. FP8 falls back
// to 16-bit activations on older cards from 0.5.5 on. Experts have methods of their own.
struct Scheme {
  const char* name;
  bool (*matches)(const Weight&);
  struct {
    Version since;
    ComputeCapability least;
  } steps[3];
};

constexpr Scheme kSchemes[] = {
    {"FP8 weights",
     [](const Weight& w) { return w.format.type == ElementType::kFloat8E4M3; },
     {{{0, 5, 3}, {8, 9}}, {{0, 5, 5}, {8, 0}}, {{0, 16, 0}, {7, 5}}}},
    {"packed integer weights",
     [](const Weight& w) { return w.format.type == ElementType::kInt4; },
     {{{0, 5, 3}, {8, 0}}, {{0, 12, 0}, {7, 5}}, {{0, 12, 0}, {7, 5}}}},
    {"8-bit integer weights",
     [](const Weight& w) { return w.format.type == ElementType::kInt8; },
     {{{0, 5, 3}, {7, 5}}, {{0, 5, 3}, {7, 5}}, {{0, 5, 3}, {7, 5}}}},
    {"4-bit float weights",
     is_four_bit_float,
     {{{0, 9, 0}, {8, 0}}, {{0, 16, 0}, {7, 5}}, {{0, 16, 0}, {7, 5}}}},
};

std::string text(ComputeCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

void report(const Deployment& d, const std::string& what, ComputeCapability least,
            Reporter& reporter) {
  const bool forced = d.settings.has("quantization");
  Diagnostic& finding =
      reporter.report(forced          ? d.where_of("quantization")
                      : d.model_where ? d.model_where
                                      : d.start.where,
                      what + " needs compute capability " + text(least) + " in vLLM " +
                          d.version.str() + "; " + d.gpu->name + " has " + text(d.gpu->capability),
                      exact_severity(d));
  finding.notes.push_back({"GPTQ checkpoints run from compute capability 6.0 on", {}});
}

bool check_schemes(const Deployment& d, Reporter& reporter) {
  for (const Scheme& scheme : kSchemes) {
    const bool here =
        std::any_of(d.shape->weights.begin(), d.shape->weights.end(), [&](const Weight& weight) {
          return weight.linear && !weight.expert && weight.encoder == memory::Encoder::kNone &&
                 scheme.matches(weight);
        });
    if (!here) continue;
    ComputeCapability least{};
    for (const auto& step : scheme.steps) {
      if (d.version >= step.since) least = step.least;
    }
    if (d.gpu->capability >= least) continue;
    report(d, "compressed-tensors with " + std::string(scheme.name), least, reporter);
    return true;
  }
  return false;
}

// A method that the file forces keeps its own kernels, where the engine would have taken Marlin:
// "torch.bfloat16 is not supported for quantization method awq".
void check_dtype(const Deployment& d, const std::string& name, const QuantizationMethod& method,
                 Reporter& reporter) {
  if (d.settings.text("quantization") != name || d.engine.dtype != ElementType::kBFloat16) return;
  if (method.takes_dtype("bfloat16", d.version)) return;
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
  const QuantizationMethod* method = find_quantization_method(name);
  if (method == nullptr || !method->exists(d.version)) return;
  const auto least = method->least_capability(d.version);
  if (least && d.gpu->capability < *least) return report(d, name, *least, reporter);
  if (name == "compressed-tensors" && check_schemes(d, reporter)) return;
  check_dtype(d, name, *method, reporter);
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
