#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/pressure.h"

namespace kvbudget {
namespace {

using memory::with_commas;

// The same GPUs as independent ranks of attention, with the experts divided over all of them.
memory::Estimate with_data_parallel(const Deployment& d) {
  memory::EngineSettings changed = d.engine;
  changed.tensor_parallel = 1;
  changed.data_parallel = d.engine.tensor_parallel;
  changed.expert_parallel = is_moe(d);
  return memory::estimate(*d.shape, changed, d.card());
}

void add_alternative(const Deployment& d, Diagnostic& finding) {
  const uint32_t tp = d.engine.tensor_parallel;
  const memory::Estimate data = with_data_parallel(d);
  if (data.best.holds_one_request) {
    finding.notes.push_back({"--data-parallel-size=" + std::to_string(tp) +
                                 (is_moe(d) ? " --enable-expert-parallel" : "") +
                                 " with tensor-parallel-size 1 would hold about " +
                                 with_commas(data.best.tokens * tp) + " tokens on the same GPUs",
                             {}});
  } else if (!has_indexers(d) && d.version >= Version{0, 10, 2}) {
    finding.notes.push_back({"--decode-context-parallel-size=" + std::to_string(tp) +
                                 " spreads the tokens over the copies",
                             {}});
  }
}

void check(const Deployment& d, Reporter& reporter) {
  const memory::EngineSettings& e = d.engine;
  if (!uses_mla(d) || e.tensor_parallel < 2 || e.data_parallel > 1) return;
  if (e.decode_context_parallel > 1 || e.prefill_context_parallel > 1) return;
  if (!cache_matters(d) || !d.gpu) return;
  Diagnostic& finding =
      reporter.report(d.where_of("tensor-parallel-size"),
                      "latent attention keeps one head, so that tensor-parallel-size " +
                          std::to_string(e.tensor_parallel) + " stores the cache " +
                          std::to_string(e.tensor_parallel) + " times; " + cache_text(*d.estimate),
                      cache_is_short(d) ? Severity::kWarning : Severity::kInfo);
  add_alternative(d, finding);
}

}  // namespace

extern const Rule mla_cache_replicated_rule;
const Rule mla_cache_replicated_rule = {
    .id = "KVB304",
    .name = "mla-cache-replicated",
    .severity = Severity::kWarning,
    .summary = "tensor parallelism stores the cache of latent attention once on every GPU",
    .doc = R"md(
## What it does
Finds models with latent attention (DeepSeek, Kimi-K2, GLM-5) under tensor parallelism alone.

## Why it matters
Latent attention has one head for all: tensor parallelism cannot divide it, and each GPU stores the same tokens. Eight
ranks of data parallelism hold about eight times as many (one report: 7.7 times, and 3.4 times faster first tokens).

## How it is computed
From the kinds of the model's caches; the alternative is an estimate of its own. An info, because tensor parallelism
answers single requests faster; a warning where the cache is too short for `max-model-len` or for the workload of the
project file.

## Fix
`data-parallel-size` with `enable-expert-parallel` where the rest of the weights fit that way, else
`decode-context-parallel-size`.

## Since which engine version
All with latent attention.

## References
vLLM documentation, "Context Parallel Deployment" and "Data Parallel Deployment"; vLLM issue 51454.
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
        - --model=deepseek-ai/DeepSeek-V2-Lite
        - --max-model-len=32768
        - --tensor-parallel-size=2  # expect: KVB304
      resources: {limits: {nvidia.com/gpu: 2}}
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
        - --model=deepseek-ai/DeepSeek-V2-Lite
        - --max-model-len=32768
        - --data-parallel-size=2
        - --enable-expert-parallel
      resources: {limits: {nvidia.com/gpu: 2}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
