#include <algorithm>
#include <string>

#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

/// What keeps a plan from being enforced; empty when nothing does, or when only run time knows.
struct Gap {
  std::string setting;
  std::string problem;
  std::string value;  ///< that the plan has
};

Gap scheduler_gap(const Deployment& d) {
  constexpr const char* kSetting = "scheduler-cls";
  const Setting* stated = d.settings.find(kSetting);
  if (stated == nullptr) return {kSetting, "--scheduler-cls is absent", kScheduler};
  if (!stated->known || stated->value == kScheduler) return {};
  return {kSetting, "--scheduler-cls is " + stated->value + ", not " + kScheduler, kScheduler};
}

Gap pin_gap(const Deployment& d, const PlanFile& plan) {
  const Setting* stated = d.settings.find(plan.pin_flag);
  const std::string value = std::to_string(plan.pin_value);
  if (stated == nullptr) {
    return {plan.pin_flag, "--" + plan.pin_flag + " is absent, so the engine sizes its pool itself",
            value};
  }
  const std::optional<int64_t> number = d.settings.integer(plan.pin_flag);
  if (!stated->known || !number || static_cast<uint64_t>(*number) == plan.pin_value) return {};
  return {plan.pin_flag, "--" + plan.pin_flag + " is " + stated->value + ", the plan has " + value,
          value};
}

Gap gap_of(const Deployment& d, const PlanFile& plan) {
  Gap gap = scheduler_gap(d);
  return gap.setting.empty() ? pin_gap(d, plan) : gap;
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.model.empty() || d.settings.opaque_words) return;
  const PlanFile* unused = nullptr;
  for (const PlanFile& plan : d.plans) {
    if (plan.model != d.model) continue;
    if (gap_of(d, plan).setting.empty()) return;
    if (unused == nullptr) unused = &plan;
  }
  if (unused == nullptr) return;
  const Gap gap = gap_of(d, *unused);
  Diagnostic& finding = reporter.report(
      d.where_of(gap.setting), "the plan in " + unused->path + " is not enforced: " + gap.problem);
  propose_value(d, gap.setting, gap.value, finding);
  std::string flags = "flags of the plan:";
  for (const std::string& flag : unused->flags) flags += " " + flag;
  finding.notes.push_back({std::move(flags), {}});
}

}  // namespace

extern const Rule plan_not_enforced_rule;
const Rule plan_not_enforced_rule = {
    .id = "KVB121",
    .name = "plan-not-enforced",
    .severity = Severity::kWarning,
    .summary =
        "a plan of kvbudget stands beside the deployment, but the engine does not keep to it",
    .doc = R"md(
## What it does
Finds the plan that `kvbudget plan` wrote for the deployment's model, and reports a deployment that lacks the
plugin's scheduler, or whose pool is not the plan's.

## Why it matters
A plan is only a file. Without `--scheduler-cls` nobody admits requests by it; without the pinning flag the pool
has whatever size the profile run leaves, and the plugin refuses to start.

## How it is computed
A plan is `kvbudget-plan.json` or `*.kvbudget-plan.json` in the folder of the file, or a JSON file that a ConfigMap
of the same file mounts. It counts for engines of the model that it names. `--scheduler-cls` must be
kvbudget.vllm.make_scheduler, and `--kv-cache-memory-bytes` or `--num-gpu-blocks-override` what the plan says.
Where several plans name the model, one that is kept to is enough. Whether a plan still is what the deployment
would get, `kvbudget plan --check` says.

## Fix
The flags that the plan lists.

## Since which engine version
All that take `--scheduler-cls`.

## References
vllm/v1/engine/core.py (the scheduler's class), vllm/config/cache.py (kv_cache_memory_bytes,
num_gpu_blocks_override).
)md",
    .bad = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: chat-plan}
data:
  plan.json: |
    {"schema": 1, "model": "Qwen/Qwen2.5-7B-Instruct", "num_blocks": 3000, "usable_blocks": 2999,
     "flags": ["--kv-cache-memory-bytes=2752512000", "--scheduler-cls=kvbudget.vllm.make_scheduler"]}
---
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  volumes: [{name: plan, configMap: {name: chat-plan}}]
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --kv-cache-memory-bytes=2000000000   # expect: KVB121
        - --scheduler-cls=kvbudget.vllm.make_scheduler
      volumeMounts: [{name: plan, mountPath: /etc/kvbudget}]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: chat-plan}
data:
  plan.json: |
    {"schema": 1, "model": "Qwen/Qwen2.5-7B-Instruct", "num_blocks": 3000, "usable_blocks": 2999,
     "flags": ["--kv-cache-memory-bytes=2752512000", "--scheduler-cls=kvbudget.vllm.make_scheduler"]}
---
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  volumes: [{name: plan, configMap: {name: chat-plan}}]
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --kv-cache-memory-bytes=2752512000
        - --scheduler-cls=kvbudget.vllm.make_scheduler
        - '--additional-config={"kvbudget":{"plan":"/etc/kvbudget/plan.json","mode":"strict"}}'
      volumeMounts: [{name: plan, mountPath: /etc/kvbudget}]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
