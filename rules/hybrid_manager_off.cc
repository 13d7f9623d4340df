#include <algorithm>

#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/load.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::CacheKind;
using memory::with_commas;

constexpr Version kFirstManager{0, 9, 1};

struct Layers {
  uint32_t all = 0;
  uint32_t states = 0;
  uint32_t bounded = 0;  ///< windows and chunks
  uint32_t window_tokens = 0;
};

Layers count_layers(const memory::ModelShape& model) {
  Layers layers;
  for (const memory::LayerCache& cache : model.caches) {
    ++layers.all;
    if (cache.kind == CacheKind::kMamba) ++layers.states;
    if (cache.kind != CacheKind::kSliding && cache.kind != CacheKind::kChunked) continue;
    ++layers.bounded;
    layers.window_tokens = std::max(layers.window_tokens, cache.window_tokens);
  }
  return layers;
}

// What the file says that turns the manager off; empty when it is the engine's own default.
const char* stated_cause(const Deployment& d) {
  for (const char* name : {"disable-hybrid-kv-cache-manager", "kv-transfer-config"}) {
    if (d.settings.has(name)) return name;
  }
  return "";
}

// unify_hybrid_kv_cache_specs of vllm/v1/core/kv_cache_utils.py: windows can be kept as whole
// contexts, recurrent states cannot ("failed to convert the KV cache specs to one unified type").
void check_states(const Deployment& d, const std::string& cause, Reporter& reporter) {
  if (d.version < Version{0, 10, 0}) return;
  reporter.report(d.where_of(cause),
                  cause + " turns the hybrid KV cache manager off, and " + d.shape->architecture +
                      " has recurrent state beside attention: the engine cannot lay out its cache "
                      "without it",
                  exact_severity(d));
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.engine.hybrid_kv_cache_manager || d.engine.v0_engine || !d.shape) return;
  if (d.version < kFirstManager || !d.shape->generates) return;
  const std::string cause = stated_cause(d);
  const Layers layers = count_layers(*d.shape);
  if (cause.empty()) return;
  if (layers.states > 0 && layers.states < layers.all) return check_states(d, cause, reporter);
  if (layers.bounded == 0 || layers.bounded == layers.all || !d.estimate || !d.gpu) return;
  memory::EngineSettings with_manager = d.engine;
  with_manager.hybrid_kv_cache_manager = true;
  const memory::Estimate other = memory::estimate(*d.shape, with_manager, d.card());
  const double here = d.estimate->best.max_concurrency;
  if (!d.estimate->best.holds_one_request || other.best.max_concurrency < here * 1.1) return;
  Diagnostic& finding = reporter.report(
      d.where_of(cause),
      cause + " turns the hybrid KV cache manager off: " + std::to_string(layers.bounded) + " of " +
          std::to_string(layers.all) + " layers keep the whole context instead of " +
          with_commas(layers.window_tokens) + " tokens, and the cache holds " + count_text(here) +
          " requests of " + with_commas(d.estimate->max_model_len) + " tokens instead of " +
          count_text(other.best.max_concurrency));
  if (cause == "kv-transfer-config" && d.version >= Version{0, 13, 0}) {
    finding.notes.push_back(
        {"if the connector supports it, --no-disable-hybrid-kv-cache-manager keeps it on", {}});
  }
}

}  // namespace

extern const Rule hybrid_manager_off_rule;
const Rule hybrid_manager_off_rule = {
    .id = "KVB209",
    .name = "hybrid-manager-off",
    .severity = Severity::kWarning,
    .summary = "layers with a window keep the whole context, because the hybrid manager is off",
    .doc = R"md(
## What it does
Finds models with several kinds of layers whose hybrid KV cache manager is switched off, by its flag or by a KV
connector.

## Why it matters
Layers with a sliding window or chunks then keep the whole context: the cache holds half as many tokens (gpt-oss) to a
sixth (Gemma). Models with recurrent state cannot be laid out at all.

## How it is computed
Two estimates of the same engine, with and without the manager; silent where the difference is under 10 %. Up to 0.22
any `kv-transfer-config` switches the manager off, unless `no-disable-hybrid-kv-cache-manager` (0.13) forbids it. An
error where recurrent states stand beside attention, which is the engine's own check.

## Fix
Delete the flag; with a connector that supports it, keep the manager on.

## Since which engine version
0.9.1, the first with the manager.

## References
vllm/config/vllm.py, vllm/v1/core/kv_cache_utils.py; vLLM issues 29805, 30166, 39254.
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
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
        - --disable-hybrid-kv-cache-manager  # expect: KVB209
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
        - --model=openai/gpt-oss-20b
        - --max-model-len=32768
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
