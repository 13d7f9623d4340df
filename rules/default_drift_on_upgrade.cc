#include <array>

#include "lint/engine/flags.h"
#include "lint/engine/resolve.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"

namespace kvbudget {
namespace {

// Settings whose default decides how much KV cache there is.
constexpr std::array<std::string_view, 12> kSettings = {"async-scheduling",
                                                        "block-size",
                                                        "disable-hybrid-kv-cache-manager",
                                                        "enable-chunked-prefill",
                                                        "enable-prefix-caching",
                                                        "gpu-memory-utilization",
                                                        "kv-cache-dtype",
                                                        "mamba-cache-mode",
                                                        "max-cudagraph-capture-size",
                                                        "max-model-len",
                                                        "max-num-batched-tokens",
                                                        "max-num-seqs"};

std::string default_of(const Deployment& d, std::string_view setting) {
  return default_text(setting, {d.settings, d.version, d.gpu ? &*d.gpu : nullptr, d.shape.get(),
                                d.context.default_tokens});
}

std::string signed_gib(int64_t bytes) {
  const auto size = static_cast<uint64_t>(bytes < 0 ? -bytes : bytes);
  return (bytes < 0 ? "-" : "+") + memory::gib_text(size);
}

// What the whole step to this release does to the cache.
std::string cache_change(const Deployment& before, const Deployment& d) {
  if (!before.estimate || !d.estimate) return "";
  return "KV cache of " + d.version.str() + " against " + before.version.str() +
         ", all changes together: " +
         signed_gib(d.estimate->available.best - before.estimate->available.best);
}

void report_drift(const Deployment& before, const Deployment& d, std::string_view setting,
                  Reporter& reporter) {
  if (before.settings.has(setting) || d.settings.has(setting)) return;
  const std::string was = default_of(before, setting);
  const std::string is = default_of(d, setting);
  if (was == is || was.empty() || is.empty()) return;
  Diagnostic& finding = reporter.report(
      d.start.where, "from vLLM " + before.version.str() + " to " + d.version.str() + ": " +
                         std::string(setting) + " default " + was + " -> " + is);
  finding.subject = setting;
  if (std::string change = cache_change(before, d); !change.empty()) {
    finding.notes.push_back({std::move(change), {}});
  }
  const Flag* flag = find_flag(setting);
  if (flag == nullptr || !flag_exists(*flag, d.version)) return;
  const bool is_switch = flag_kind(*flag, d.version).is_switch();
  const std::string pin = !is_switch      ? "--" + flag->name + "=" + was
                          : was == "true" ? "--" + flag->name
                                          : "--no-" + flag->name;
  finding.notes.push_back({"pin the old value with " + pin, {}});
  propose_argument(d, pin, finding);
}

void check(const Deployment& d, Reporter& reporter) {
  if (d.before == nullptr || d.settings.opaque_words) return;
  for (const std::string_view setting : kSettings) report_drift(*d.before, d, setting, reporter);
}

}  // namespace

extern const Rule default_drift_on_upgrade_rule;
const Rule default_drift_on_upgrade_rule = {
    .id = "KVB411",
    .name = "default-drift-on-upgrade",
    .severity = Severity::kInfo,
    .summary = "a default that memory depends on differs from an older release",
    .doc = R"md(
## What it does
With `lint --since vllm@VERSION` compares the defaults of the file's own engine version with those of the given one,
and names those that decide about memory and are not pinned.

## Why it matters
An upgrade changes the memory of a deployment whose file does not change: the share of the card, the tokens of a step,
the number of sequences, the sizes of CUDA graphs.

## How it is computed
Both releases' defaults for this model and card, computed as the engine does. The note gives the difference of the
estimated KV cache.

## Fix
Pin the old value, or take the new one knowingly.

## Since which engine version
All.

## References
vLLM issues 11251, 15105, 16570, 31273, 43308, 49878, 50780.
)md",
    .bad = R"yaml(
# options: --since vllm@0.19.1
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct  # expect: KVB411
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
# options: --since vllm@0.19.1
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --gpu-memory-utilization=0.9
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
