#include <algorithm>

#include "lint/engine/cudagraph.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

// From here on the graphs' share of the cache is worth a word.
constexpr double kLargeShare = 0.15;

Location where_of_list(const Deployment& d) {
  const bool flag = d.settings.has("cudagraph-capture-sizes");
  return d.where_of(flag ? "cudagraph-capture-sizes" : "compilation-config");
}

// VllmConfig._set_cudagraph_sizes, vllm/config/vllm.py from 0.11.1: sizes beyond a step's tokens
// are dropped, and what is left must end at the maximum that is stated beside it.
bool report_contradiction(const Deployment& d, const std::vector<int64_t>& sizes,
                          Reporter& reporter) {
  const std::optional<uint64_t> largest = stated_largest_capture(d.settings);
  if (!largest || sizes.empty() || d.version < Version{0, 11, 1}) return false;
  uint64_t top = 0;
  for (const int64_t size : sizes) {
    if (size > 0 && size <= d.engine.max_num_batched_tokens) {
      top = std::max(top, static_cast<uint64_t>(size));
    }
  }
  if (top == *largest) return false;
  reporter.report(where_of_list(d),
                  "cudagraph-capture-sizes end at " + std::to_string(top) +
                      ", max-cudagraph-capture-size is " + std::to_string(*largest) +
                      "; the engine refuses to start unless they agree",
                  exact_severity(d));
  return true;
}

std::string fewer_sizes(const Deployment& d) {
  const std::string_view flag = largest_capture_flag(d.version);
  return flag.empty() ? "" : "capture fewer sizes with --" + std::string(flag) + ", or ";
}

bool report_obstacle(const Deployment& d, Reporter& reporter) {
  if (rule_of_obstacle(d) != "KVB108") return false;
  const memory::Estimate& e = *d.estimate;
  Diagnostic& finding =
      reporter.report(d.where_of(largest_capture_flag(d.version)),
                      "CUDA graphs of " + std::to_string(d.engine.cudagraph_sizes) +
                          " sizes and contexts take about " + memory::gib_text(e.outside.best) +
                          "; " + memory::gib_text(left_beside_budget(d)) + " of " + d.gpu->name +
                          " is left beside the budget",
                      severity_of(e));
  finding.notes.push_back({fewer_sizes(d) + "lower gpu-memory-utilization", {}});
  return true;
}

// The engine's own list goes up to twice the tokens of a decode step.
bool report_useless_sizes(const Deployment& d, const std::vector<int64_t>& sizes,
                          Reporter& reporter) {
  if (sizes.empty() || !d.settings.has("max-num-seqs")) return false;
  const uint64_t step =
      memory::mul(d.engine.max_num_seqs, uint64_t{1} + d.engine.num_speculative_tokens);
  const int64_t top = *std::max_element(sizes.begin(), sizes.end());
  if (top <= 0 || static_cast<uint64_t>(top) <= memory::mul(2, step)) return false;
  Diagnostic& finding =
      reporter.report(where_of_list(d), "CUDA graphs are captured up to " + std::to_string(top) +
                                            " tokens, but decode steps of max-num-seqs " +
                                            std::to_string(d.engine.max_num_seqs) +
                                            " have at most " + memory::with_commas(step));
  finding.notes.push_back({"every further size costs memory; --" +
                               std::string(largest_capture_flag(d.version)) + "=" +
                               std::to_string(step) + " covers decoding",
                           {}});
  return true;
}

void report_share(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || !d.settings.has("max-num-seqs")) return;
  const memory::Estimate& e = *d.estimate;
  const memory::Term& graphs = *e.term("cuda_graphs");
  if (e.obstacle != memory::Obstacle::kNone || !graphs.in_budget || e.available.best <= 0) return;
  const double share =
      static_cast<double>(graphs.bytes.best) / static_cast<double>(e.available.best);
  const uint32_t step = d.engine.max_num_seqs * (1 + d.engine.num_speculative_tokens);
  const std::string_view flag = largest_capture_flag(d.version);
  if (share <= kLargeShare || d.engine.max_cudagraph_size <= step) return;
  Diagnostic& finding =
      reporter.report(d.where_of(flag),
                      "CUDA graphs of " + std::to_string(d.engine.cudagraph_sizes) +
                          " sizes up to " + std::to_string(d.engine.max_cudagraph_size) +
                          " tokens take about " + memory::gib_text(graphs.bytes.best) + ", " +
                          memory::decimal_text(share * 100.0, 0) + " % of the KV cache; at most " +
                          std::to_string(d.engine.max_num_seqs) + " sequences run");
  if (!flag.empty()) suggest_value(d, flag, std::to_string(step), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  const std::vector<int64_t> list =
      stated_capture_sizes(d.settings).value_or(std::vector<int64_t>());
  if (report_contradiction(d, list, reporter) || report_obstacle(d, reporter)) return;
  if (d.engine.cudagraph_sizes == 0) return;
  if (!report_useless_sizes(d, list, reporter)) report_share(d, reporter);
}

}  // namespace

extern const Rule cudagraph_set_too_large_rule;
const Rule cudagraph_set_too_large_rule = {
    .id = "KVB108",
    .name = "cudagraph-set-too-large",
    .severity = Severity::kInfo,
    .summary = "captured CUDA graphs take memory that the service has better uses for",
    .doc = R"md(
## What it does
Looks at the batch sizes for which CUDA graphs are captured: lists that contradict the stated maximum, sizes that
no step of this service has, graphs that take more than 15 % of what the KV cache gets, and graphs that do not fit.

## Why it matters
A list and a maximum that differ stop the engine. Each further size costs memory of the cache (from 0.20) or of the
headroom (before), and sizes far above the number of running sequences are used by mixed steps at best.

## How it is computed
The stated list or the engine's own (1, 2, 4, then every 8th to 256, then every 16th, up to twice `max-num-seqs`, at
most 512), the pool that so many graphs of a model this deep take, and what is left for them. The contradiction
is the engine's own check; graphs that cannot fit are an error when even the favourable end of the estimate fails.

## Fix
`max-cudagraph-capture-size` (before 0.11.1 `cuda-graph-sizes`), not `enforce-eager`.

## Since which engine version
0.10.

## References
vllm/config/vllm.py, `_set_cudagraph_sizes`; vLLM issues 2437, 30515, 49390.
)md",
    .bad = R"yaml(
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
        - --max-num-seqs=8
        - --cudagraph-capture-sizes
        - "1"  # expect: KVB108
        - "8"
        - "64"
        - "256"
        - "512"
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
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
        - --max-num-seqs=8
        - --max-cudagraph-capture-size=8
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
