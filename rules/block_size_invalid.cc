#include "lint/rule.h"
#include "rules/attention_choice.h"
#include "rules/card_text.h"
#include "rules/model_facts.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// Before, the engine chose without looking at the size, and set it right where the backend wanted
// another (vllm/platforms/cuda.py, check_and_update_config).
constexpr Version kBlocksCount{0, 18, 0};

void report_none_left(const Deployment& d, const std::string& size, const std::string& obstacles,
                      Reporter& reporter) {
  Diagnostic& finding = reporter.report(
      d.where_of("block-size"),
      "no attention backend on " + card_text(d) + " takes block-size " + size + ": " + obstacles,
      exact_severity(d));
  finding.notes.push_back({"delete it; the engine chooses the size that its backend wants", {}});
}

void report_second_choice(const Deployment& d, const std::string& size,
                          const AttentionBackend& wanted, const AttentionBackend& left,
                          Reporter& reporter) {
  Diagnostic& finding = reporter.report(
      d.where_of("block-size"),
      "block-size " + size + " rules out " + std::string(wanted.name) +
          ", which takes multiples of " + std::to_string(wanted.block_multiple(d.version)) + "; " +
          std::string(left.name) + " serves instead",
      Severity::kWarning);
  finding.notes.push_back({"delete it; the engine chooses the size that its backend wants", {}});
}

void check(const Deployment& d, Reporter& reporter) {
  const std::optional<int64_t> stated = d.settings.integer("block-size");
  if (!stated || *stated <= 0 || d.version < kBlocksCount) return;
  // The blocks of hybrids grow until they hold a state, whatever the user wants.
  if (!backend_is_known(d) || has_recurrent_state(d)) return;
  const auto block_tokens = static_cast<uint64_t>(*stated);
  const std::string size = std::to_string(block_tokens);
  for (const AttentionLayers& layers : attention_layers(d)) {
    const BackendChoice wanted = choose_backend(d, layers, d.engine.kv_cache_dtype);
    if (wanted.backend == nullptr) continue;  // not for the size
    const BackendChoice left = choose_backend(d, layers, d.engine.kv_cache_dtype, block_tokens);
    if (left.backend == nullptr) return report_none_left(d, size, left.obstacles, reporter);
    if (left.backend != wanted.backend) {
      return report_second_choice(d, size, *wanted.backend, *left.backend, reporter);
    }
  }
}

}  // namespace

extern const Rule block_size_invalid_rule;
const Rule block_size_invalid_rule = {
    .id = "KVB208",
    .name = "block-size-invalid",
    .severity = Severity::kError,
    .summary = "the block size rules out attention backends",
    .doc = R"md(
## What it does
Checks `block-size` against what the attention backends of the GPU take.

## Why it matters
Where none takes it, the engine stops at start. Where the best does not, a slower one serves, and the engine says so in
one line of its log.

## How it is computed
As the engine chooses, once with and once without the size. Backends take multiples: 16 in general, 64 for FlashMLA, 32
for FlashInfer's and 128 for CUTLASS' latent attention. Hybrid models are not looked at, since their blocks are made to
hold a state.

## Fix
Delete it: without it each backend gets the size that it wants.

## Since which engine version
0.18.0. Before, the flag had a closed list of values, and the engine changed what did not fit.

## References
vllm/platforms/cuda.py, vllm/platforms/interface.py; `get_supported_kernel_block_sizes` in vllm/v1/attention/backends.
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
        - --block-size=8  # expect: KVB208
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
