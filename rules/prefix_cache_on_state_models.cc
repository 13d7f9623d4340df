#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"
#include "rules/model_facts.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::with_commas;

constexpr Version kStatesCached{0, 11, 0};  // the first release that keeps states for prefixes

// validate_mamba_block_size of vllm/config/vllm.py.
void check_block_size(const Deployment& d, Reporter& reporter) {
  const std::optional<int64_t> stated = d.settings.integer("mamba-block-size");
  if (!stated || *stated <= 0 || d.engine.prefix_caching || d.version < Version{0, 11, 1}) return;
  if (static_cast<uint64_t>(*stated) == d.engine.max_model_len) return;
  reporter.report(d.where_of("mamba-block-size"),
                  "mamba-block-size " + std::to_string(*stated) +
                      " counts only with prefix caching, which is off; the engine stops",
                  exact_severity(d));
}

void check(const Deployment& d, Reporter& reporter) {
  if (!has_recurrent_state(d) || d.version < kStatesCached) return;
  check_block_size(d, reporter);
  if (!d.engine.prefix_caching || !d.estimate || !d.gpu) return;
  memory::EngineSettings without = d.engine;
  without.prefix_caching = false;
  without.mamba_cache_mode = "none";
  const memory::Estimate other = memory::estimate(*d.shape, without, d.card());
  const double here = d.estimate->best.max_concurrency;
  const double there = other.best.max_concurrency;
  const bool stated = d.settings.has("enable-prefix-caching");
  // A default is worth a word only where the cache is what limits the service.
  if (!stated && here >= d.engine.max_num_seqs) return;
  if (there <= 0.0 || there < here * 1.1) return;
  const Location where = d.settings.has("mamba-cache-mode") ? d.where_of("mamba-cache-mode")
                                                            : d.where_of("enable-prefix-caching");
  Diagnostic& finding =
      reporter.report(where, "prefix caching keeps recurrent states of " + d.shape->architecture +
                                 " for prefixes: " + count_text(here) + " requests of " +
                                 with_commas(d.estimate->max_model_len) + " tokens fit, " +
                                 count_text(there) + " without it");
  finding.notes.push_back(
      {"where prompts do not repeat, --no-enable-prefix-caching gives the room back", {}});
}

}  // namespace

extern const Rule prefix_cache_on_state_models_rule;
const Rule prefix_cache_on_state_models_rule = {
    .id = "KVB212",
    .name = "prefix-cache-on-state-models",
    .severity = Severity::kInfo,
    .summary = "prefix caching keeps recurrent states, which take room for requests",
    .doc = R"md(
## What it does
Compares what a model with recurrent state (Mamba, gated delta) holds with and without prefix caching. Also finds
`mamba-block-size` without it, which the engine refuses.

## Why it matters
A prefix can be reused only where a state was kept: two states a sequence in mode `align`, one a block in mode `all`.
Prompts that never repeat pay for it in requests at once.

## How it is computed
Two estimates of the same engine. Silent under 10 %, and where prefix caching is the default (0.28) and the cache holds
`max-num-seqs` requests anyway.

## Fix
`no-enable-prefix-caching` when prompts do not repeat.

## Since which engine version
0.11.0.

## References
MambaSpec in vllm/v1/kv_cache_interface.py, vllm/config/cache.py; vLLM issue 50991.
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
        - --model=nvidia/NVIDIA-Nemotron-Nano-12B-v2
        - --max-model-len=32768
        - --max-num-seqs=64
        - --enable-prefix-caching
        - --mamba-cache-mode=all  # expect: KVB212
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
        - --model=nvidia/NVIDIA-Nemotron-Nano-12B-v2
        - --max-model-len=32768
        - --max-num-seqs=64
        - --no-enable-prefix-caching
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
