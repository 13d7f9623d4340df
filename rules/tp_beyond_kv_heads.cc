#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/pressure.h"

namespace kvbudget {
namespace {

using memory::with_commas;

constexpr Version kFirstDcp{0, 11, 1};  // for models whose keys and values have several heads

// Decode context parallelism that uses the copies: legal for full attention alone, where it divides
// the query heads of one key-value head (verify_with_parallel_config of vllm/config/model.py).
uint32_t legal_dcp(const Deployment& d, uint32_t copies) {
  if (d.version < kFirstDcp || has_windows(d) || has_recurrent_state(d)) return 0;
  const uint32_t queries = d.shape->num_heads / kv_heads(d);
  for (uint32_t size = copies; size > 1; --size) {
    if (queries % size == 0 && d.engine.tensor_parallel % size == 0) return size;
  }
  return 0;
}

void add_alternative(const Deployment& d, uint32_t dcp, Diagnostic& finding) {
  memory::EngineSettings changed = d.engine;
  changed.decode_context_parallel = dcp;
  const memory::Estimate other = memory::estimate(*d.shape, changed, d.card());
  if (!other.best.holds_one_request) return;
  finding.notes.push_back({"--decode-context-parallel-size=" + std::to_string(dcp) +
                               " spreads the copies over tokens: about " +
                               with_commas(other.best.tokens) + " tokens",
                           {}});
}

void check(const Deployment& d, Reporter& reporter) {
  const uint32_t heads = uses_mla(d) ? 0 : kv_heads(d);
  const uint32_t tp = d.engine.tensor_parallel;
  if (heads == 0 || tp <= heads || tp % heads != 0 || !d.shape->generates) return;
  if (d.engine.decode_context_parallel > 1 || !cache_matters(d) || !d.gpu) return;
  const uint32_t copies = tp / heads;
  Diagnostic& finding = reporter.report(
      d.where_of("tensor-parallel-size"),
      "tensor-parallel-size " + std::to_string(tp) + " is above the " + std::to_string(heads) +
          " key-value heads of " + d.shape->architecture + ", so that each is stored " +
          std::to_string(copies) + " times; " + cache_text(*d.estimate),
      cache_is_short(d) ? Severity::kWarning : Severity::kInfo);
  if (const uint32_t dcp = legal_dcp(d, copies); dcp > 1) add_alternative(d, dcp, finding);
}

}  // namespace

extern const Rule tp_beyond_kv_heads_rule;
const Rule tp_beyond_kv_heads_rule = {
    .id = "KVB303",
    .name = "tp-beyond-kv-heads",
    .severity = Severity::kWarning,
    .summary = "tensor parallelism stores key-value heads several times",
    .doc = R"md(
## What it does
Compares `tensor-parallel-size` with the model's key-value heads.

## Why it matters
A head cannot be divided: beyond their number each is stored on several GPUs, and further GPUs add no room for tokens.

## How it is computed
`num_key_value_heads` against `tensor-parallel-size`; latent attention is KVB304's business. An info, because larger
sizes are legitimate for speed or to hold the weights; a warning where the cache is too short for `max-model-len` or for
the workload of the project file.

## Fix
`decode-context-parallel-size`, which stores different tokens where the copies are; or fewer tensor-parallel ranks, with
pipeline or data parallelism for the rest.

## Since which engine version
All; decode context parallelism for such models came with 0.11.1.

## References
vLLM documentation, "Context Parallel Deployment"; vllm/config/model.py.
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
        - --model=Qwen/Qwen3-235B-A22B
        - --max-model-len=32768
        - --tensor-parallel-size=8  # expect: KVB303
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
        - --model=Qwen/Qwen3-235B-A22B
        - --max-model-len=32768
        - --tensor-parallel-size=8
        - --decode-context-parallel-size=2
      resources: {limits: {nvidia.com/gpu: 8}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
