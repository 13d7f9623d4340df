#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/parallel_sizes.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kRefusesExternal{0, 21, 0};

// "data_parallel_size_local must be <= data_parallel_size" (vllm/config/parallel.py).
bool check_local(const Deployment& d, Reporter& reporter) {
  const std::optional<int64_t> local = d.settings.integer("data-parallel-size-local");
  const std::optional<int64_t> all = d.settings.integer("data-parallel-size");
  if (!local || !all || *local <= *all) return false;
  reporter.report(d.where_of("data-parallel-size-local"),
                  "data-parallel-size-local " + std::to_string(*local) +
                      " is above data-parallel-size " + std::to_string(*all),
                  Severity::kError);
  return true;
}

// _verify_with_expert_parallelism of vllm/config/model.py.
bool check_experts(const Deployment& d, Reporter& reporter) {
  if (!d.engine.expert_parallel || !d.settings.is_true("enable-expert-parallel")) return false;
  reporter.report(d.where_of("enable-expert-parallel"),
                  "enable-expert-parallel needs a model with experts; " + d.shape->architecture +
                      " has none, and the engine stops",
                  Severity::kError);
  return true;
}

const char* external_setting(const Deployment& d) {
  if (d.settings.is_true("data-parallel-external-lb")) return "data-parallel-external-lb";
  return d.settings.has("data-parallel-rank") ? "data-parallel-rank" : nullptr;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!sizes_are_known(d) || check_local(d, reporter)) return;
  if (!d.shape || is_moe(d)) return;
  if (check_experts(d, reporter)) return;
  const uint32_t ranks = d.engine.data_parallel;
  if (ranks < 2) return;
  const char* external = external_setting(d);
  if (external != nullptr && d.version >= kRefusesExternal) {
    reporter.report(d.where_of(external),
                    std::string(external) + " is refused for models without experts; run " +
                        std::to_string(ranks) + " engines without data-parallel flags instead",
                    exact_severity(d));
    return;
  }
  Diagnostic& finding =
      reporter.report(d.where_of("data-parallel-size"),
                      "data-parallel-size " + std::to_string(ranks) + " does not divide " +
                          d.shape->architecture + ": each rank holds all weights",
                      Severity::kWarning);
  finding.notes.push_back({std::to_string(ranks) +
                               " replicas do the same, start and fail one by one, and scale "
                               "with the load",
                           {}});
}

}  // namespace

extern const Rule dp_copies_dense_weights_rule;
const Rule dp_copies_dense_weights_rule = {
    .id = "KVB308",
    .name = "dp-copies-dense-weights",
    .severity = Severity::kWarning,
    .summary = "data parallelism of a dense model copies its weights",
    .doc = R"md(
## What it does
Finds data and expert parallelism on models without experts, and more local ranks than there are.

## Why it matters
Data parallelism divides experts and the requests, nothing else: each rank of a dense model is an engine of its own with
all weights, as a replica is, but in one container that starts and fails as one.

## How it is computed
From the experts of config.json. A warning; an error where the engine refuses: `enable-expert-parallel` on a dense
model, `data-parallel-external-lb` or `data-parallel-rank` on one (0.21), `data-parallel-size-local` above
`data-parallel-size`.

## Fix
`replicas`, without the data-parallel flags.

## Since which engine version
0.8.0; external balancing of dense models is refused from 0.21.0 on.

## References
vllm/engine/arg_utils.py, vllm/config/parallel.py, vllm/config/model.py; vLLM documentation, "Data Parallel Deployment".
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
      image: vllm/vllm-openai:v0.24.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --data-parallel-size=2
        - --data-parallel-external-lb  # expect: KVB308
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
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
