#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/model_facts.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

bool is_turboquant(const std::string& dtype) { return dtype.starts_with("turboquant_"); }

bool is_exotic(const std::string& dtype) {
  return is_turboquant(dtype) || dtype.ends_with("_per_token_head") || dtype == "fp8_inc";
}

// "TurboQuant KV cache is not supported for hybrid (attention + Mamba) models"
// (vllm/engine/arg_utils.py).
bool is_refused_for_hybrids(const Deployment& d, const std::string& dtype) {
  return is_turboquant(dtype) && has_recurrent_state(d) && d.version < Version{0, 21, 0};
}

void report_refused(const Deployment& d, const std::string& dtype, const std::string& why,
                    Reporter& reporter) {
  Diagnostic& finding = reporter.report(d.where_of("kv-cache-dtype"),
                                        "kv-cache-dtype " + dtype + " cannot be used here: " + why,
                                        exact_severity(d));
  const bool fp8 = why_no_backend(d, "fp8").empty();
  propose_value(d, "kv-cache-dtype", fp8 ? "fp8" : "auto", finding);
}

void check(const Deployment& d, Reporter& reporter) {
  const std::string dtype = stated_kv_dtype(d);
  if (!is_exotic(dtype) || !backend_is_known(d)) return;
  if (is_refused_for_hybrids(d, dtype)) {
    return report_refused(d, dtype, "vLLM " + d.version.str() + " refuses it for hybrid models",
                          reporter);
  }
  if (const std::string why = why_no_backend(d, dtype); !why.empty()) {
    return report_refused(d, dtype, why, reporter);
  }
  Diagnostic& finding = reporter.report(
      d.where_of("kv-cache-dtype"),
      is_turboquant(dtype)
          ? "kv-cache-dtype " + dtype +
                " runs on its own backend alone, with FlashAttention 2, and leaves the first and "
                "last two layers at 16 bits"
          : "kv-cache-dtype " + dtype +
                " runs on TRITON_ATTN alone, which decodes long contexts "
                "more slowly than fp8",
      Severity::kWarning);
  if (!is_turboquant(dtype)) {
    finding.notes.push_back(
        {"one report measured fp8 2.3 times faster at depth at the same quality", {}});
  }
}

}  // namespace

extern const Rule kv_exotic_dtype_cost_rule;
const Rule kv_exotic_dtype_cost_rule = {
    .id = "KVB206",
    .name = "kv-exotic-dtype-cost",
    .severity = Severity::kWarning,
    .summary = "a KV cache dtype that one backend alone has, at a price in speed",
    .doc = R"md(
## What it does
Finds `int8_per_token_head`, `int4_per_token_head`, `fp8_per_token_head`, `turboquant_*` and `fp8_inc`, which one
backend each has.

## Why it matters
Where that backend cannot serve the model (latent attention, attention sinks, another `attention-backend`), the engine
stops. Where it can, decoding is slower than with `fp8`, which is rarely what was wanted.

## How it is computed
From the engine's own table of backends: `*_per_token_head` are Triton's, `turboquant_*` have a backend without sinks
and latent attention, `fp8_inc` is Gaudi's. An error where no backend is left, a warning otherwise. TurboQuant in 0.20
refuses hybrid models.

## Fix
`fp8`, unless capacity is the only aim.

## Since which engine version
0.20.0.

## References
vllm/v1/attention/backends/triton_attn.py and turboquant_attn.py, vllm/engine/arg_utils.py; vLLM issues 38378, 38479,
40835.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=int8_per_token_head  # expect: KVB206
        - --attention-backend=FLASH_ATTN
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
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --kv-cache-dtype=fp8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
