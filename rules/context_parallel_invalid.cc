#include <algorithm>

#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/parallel_sizes.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kGroupedHeads{0, 11, 1};       // checks for keys and values with several heads
constexpr Version kShardsWindows{0, 31, 0};      // windows are left whole beside the divided layers
constexpr Version kPrefillWithDecode{0, 26, 0};  // prefill context parallelism is checked

std::string number(uint64_t value) { return std::to_string(value); }

// vllm/config/parallel.py and vllm/config/model.py, 0.10.2 to 0.32. Empty when all is well.
std::string grouped_heads_problem(const Deployment& d) {
  const uint32_t dcp = d.engine.decode_context_parallel;
  const uint32_t tp = d.engine.tensor_parallel;
  const uint32_t heads = kv_heads(d);
  if (!d.shape || uses_mla(d) || heads == 0 || d.version < kGroupedHeads) return "";
  if (tp <= heads) {
    return "needs a tensor-parallel-size above the " + number(heads) + " key-value heads; it is " +
           number(tp);
  }
  if (dcp > tp / heads) {
    return "is above " + number(tp / heads) + ", tensor-parallel-size " + number(tp) + " over " +
           number(heads) + " key-value heads";
  }
  const uint32_t queries = d.shape->num_heads / heads;
  if (queries % dcp != 0) {
    return "does not divide the " + number(queries) + " query heads of a key-value head";
  }
  return "";
}

// "DCP not support sliding window" (vllm/v1/kv_cache_interface.py).
std::string window_problem(const Deployment& d) {
  if (!has_windows(d) || uses_mla(d) || d.version >= kShardsWindows) return "";
  if (!d.engine.hybrid_kv_cache_manager) return "";
  return "cannot divide layers with a sliding window in vLLM " + d.version.str();
}

std::string decode_problem(const Deployment& d) {
  const uint32_t dcp = d.engine.decode_context_parallel;
  const uint32_t tp = d.engine.tensor_parallel;
  const uint32_t pcp = d.engine.prefill_context_parallel;
  if (dcp < 2) return "";
  if (pcp < 2 && tp % dcp != 0) {
    return "does not divide tensor-parallel-size " + number(tp);
  }
  if (pcp > 1 && d.version >= kPrefillWithDecode && dcp != pcp && dcp != tp * pcp) {
    return "has to be 1, " + number(pcp) + " or " + number(uint64_t{tp} * pcp) +
           " beside prefill-context-parallel-size " + number(pcp);
  }
  const std::string heads = grouped_heads_problem(d);
  return heads.empty() ? window_problem(d) : heads;
}

// The largest size below the one in force that the engine takes; more than its ranks never is.
uint32_t largest_legal(Deployment d) {
  const uint64_t ranks = uint64_t{d.engine.tensor_parallel} * d.engine.prefill_context_parallel;
  uint32_t& size = d.engine.decode_context_parallel;
  size = static_cast<uint32_t>(std::min<uint64_t>(size, ranks + 1));
  while (--d.engine.decode_context_parallel > 1) {
    if (decode_problem(d).empty()) return d.engine.decode_context_parallel;
  }
  return 1;
}

void check_backend(const Deployment& d, Reporter& reporter) {
  if (d.settings.text("dcp-comm-backend") != "a2a" || d.engine.decode_context_parallel > 1) return;
  reporter.report(d.where_of("dcp-comm-backend"),
                  "dcp-comm-backend a2a needs a decode-context-parallel-size above 1",
                  exact_severity(d));
}

void check_prefill(const Deployment& d, Reporter& reporter) {
  constexpr const char* kName = "prefill-context-parallel-size";
  if (d.engine.prefill_context_parallel < 2) return;
  if (d.version.minor == 12) {
    reporter.report(d.where_of(kName),
                    std::string(kName) + " above 1 is refused in vLLM " + d.version.str(),
                    exact_severity(d));
  } else if (d.version >= kPrefillWithDecode && d.engine.data_parallel > 1) {
    reporter.report(d.where_of(kName),
                    std::string(kName) + " " + number(d.engine.prefill_context_parallel) +
                        " does not go with data-parallel-size " + number(d.engine.data_parallel),
                    exact_severity(d));
  }
}

void check(const Deployment& d, Reporter& reporter) {
  if (!sizes_are_known(d)) return;
  check_backend(d, reporter);
  check_prefill(d, reporter);
  const std::string problem = decode_problem(d);
  if (problem.empty()) return;
  const uint32_t legal = largest_legal(d);
  Diagnostic& finding = reporter.report(
      d.where_of("decode-context-parallel-size"),
      "decode-context-parallel-size " + number(d.engine.decode_context_parallel) + " " + problem,
      exact_severity(d));
  propose_value(d, "decode-context-parallel-size", number(legal), finding);
}

}  // namespace

extern const Rule context_parallel_invalid_rule;
const Rule context_parallel_invalid_rule = {
    .id = "KVB309",
    .name = "context-parallel-invalid",
    .severity = Severity::kError,
    .summary = "context parallelism that the engine refuses",
    .doc = R"md(
## What it does
Checks decode and prefill context parallelism against the model and the other sizes.

## Why it matters
The engine stops at start. Decode context parallelism puts different tokens where tensor parallelism would copy heads;
where there are no copies it has no place.

## How it is computed
The engine's own checks: the size divides `tensor-parallel-size`; without latent attention `tensor-parallel-size` is
above the key-value heads, the size at most the copies of a head, and it divides the query heads of a key-value head;
no layer has a sliding window (up to 0.30). `prefill-context-parallel-size` was refused in 0.12, and does not go with
data parallelism from 0.26 on. `dcp-comm-backend a2a` needs a size above 1.

## Fix
The largest size that passes, or 1.

## Since which engine version
0.10.2.

## References
vllm/config/parallel.py, vllm/config/model.py, vllm/v1/kv_cache_interface.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=meta-llama/Llama-3.1-70B-Instruct
        - --max-model-len=32768
        - --tensor-parallel-size=8
        - --decode-context-parallel-size=2  # expect: KVB309
      resources: {limits: {nvidia.com/gpu: 8}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=meta-llama/Llama-3.1-70B-Instruct
        - --max-model-len=32768
        - --tensor-parallel-size=8
      resources: {limits: {nvidia.com/gpu: 8}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
