#include <algorithm>
#include <numeric>

#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/memory/layer_specs.h"
#include "lint/rule.h"
#include "rules/parallel_sizes.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::Estimate;
using memory::gib_text;
using memory::with_commas;

constexpr std::string_view kVariable = "VLLM_PP_LAYER_PARTITION";

std::string joined(const std::vector<uint32_t>& layers) {
  std::string text;
  for (const uint32_t count : layers) text += (text.empty() ? "" : ",") + std::to_string(count);
  return text;
}

// get_pp_indices of vllm/distributed/utils.py.
bool check_variable(const Deployment& d, Reporter& reporter) {
  const EnvVar* variable = d.env(kVariable);
  if (variable == nullptr || !variable->known) return false;
  const std::vector<uint32_t> layers = d.stated_pipeline_layers();
  const uint64_t sum = std::accumulate(layers.begin(), layers.end(), uint64_t{0});
  const uint32_t stages = d.engine.pipeline_parallel;
  const std::string begin =
      std::string(kVariable) + " " + std::string(variable->value.view()) + " ";
  if (layers.empty()) {
    reporter.report(variable->value.location(), begin + "is no list of numbers", Severity::kError);
  } else if (layers.size() != stages) {
    reporter.report(variable->value.location(),
                    begin + "names " + std::to_string(layers.size()) +
                        " stages; pipeline-parallel-size is " + std::to_string(stages),
                    Severity::kError);
  } else if (sum != d.shape->num_layers) {
    reporter.report(variable->value.location(),
                    begin + "has " + std::to_string(sum) + " layers, the model " +
                        std::to_string(d.shape->num_layers),
                    Severity::kError);
  } else {
    return false;
  }
  return true;
}

std::vector<uint32_t> layers_now(const Deployment& d) {
  std::vector<uint32_t> layers;
  for (uint32_t stage = 0; stage < d.engine.pipeline_parallel; ++stage) {
    layers.push_back(memory::stage_layers(*d.shape, d.engine, stage).count());
  }
  return layers;
}

size_t roomiest(const Estimate& e) {
  const auto most = std::max_element(e.stages.begin(), e.stages.end(),
                                     [](const auto& a, const auto& b) { return a.best < b.best; });
  return static_cast<size_t>(most - e.stages.begin());
}

struct Division {
  std::vector<uint32_t> layers;
  Estimate estimate;
};

// Moves layers one by one from the stage that limits the cache to the one with most room, as long
// as the cache grows.
Division balanced(const Deployment& d) {
  memory::EngineSettings settings = d.engine;
  Division best{layers_now(d), *d.estimate};
  for (uint32_t moves = 0; moves < d.shape->num_layers; ++moves) {
    const size_t from = best.estimate.tightest_stage;
    const size_t to = roomiest(best.estimate);
    if (from == to || best.layers[from] <= 1) break;
    std::vector<uint32_t> layers = best.layers;
    --layers[from];
    ++layers[to];
    settings.pipeline_layers = layers;
    Estimate other = memory::estimate(*d.shape, settings, d.card());
    if (other.best.longest_context <= best.estimate.best.longest_context) break;
    best = {std::move(layers), std::move(other)};
  }
  return best;
}

void check_balance(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || !d.gpu || d.engine.kv_cache_memory_bytes) return;
  const Estimate& here = *d.estimate;
  const Division other = balanced(d);
  constexpr double kWorthIt = 1.15;
  if (other.estimate.best.longest_context == 0) return;
  const auto length = static_cast<double>(here.best.longest_context);
  if (static_cast<double>(other.estimate.best.longest_context) < length * kWorthIt) return;
  const auto room = [&](size_t stage) { return gib_text(here.stages[stage].best); };
  Diagnostic& finding = reporter.report(
      d.where_of("pipeline-parallel-size"),
      "pipeline stage " + std::to_string(here.tightest_stage) + " has " +
          room(here.tightest_stage) + " left for the KV cache and limits all; stage " +
          std::to_string(roomiest(here)) + " has " + room(roomiest(here)));
  finding.notes.push_back({std::string(kVariable) + "=" + joined(other.layers) +
                               " would hold requests of about " +
                               with_commas(other.estimate.best.longest_context) +
                               " tokens instead of " + with_commas(here.best.longest_context),
                           {}});
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.shape || d.engine.pipeline_parallel < 2 || !sizes_are_known(d)) return;
  if (!check_variable(d, reporter)) check_balance(d, reporter);
}

}  // namespace

extern const Rule pipeline_imbalance_rule;
const Rule pipeline_imbalance_rule = {
    .id = "KVB307",
    .name = "pipeline-imbalance",
    .severity = Severity::kWarning,
    .summary = "one pipeline stage leaves less room for the KV cache than the others",
    .doc = R"md(
## What it does
Compares what the stages of a pipeline leave for the KV cache, and checks `VLLM_PP_LAYER_PARTITION`.

## Why it matters
All stages use the number of blocks of the poorest. The first holds the embedding, the last the head and what drafts
tokens; one report went from 1,476 to 3,078 blocks by moving layers. A partition that does not fit the model stops the
engine.

## How it is computed
One estimate a stage; then layers are moved from the poorest stage to the richest as long as the cache grows. A warning
where the longest request grows by 15 %, with the partition. An error where the variable names another number of stages
or of layers than there are, which is the engine's own check.

## Fix
The partition that is named.

## Since which engine version
0.5.0, the first with the variable.

## References
`get_pp_indices` in vllm/distributed/utils.py; vLLM issues 6920, 14120, 34076.
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
        - --pipeline-parallel-size=4
      env:
        - {name: VLLM_PP_LAYER_PARTITION, value: "20,20,20,18"}  # expect: KVB307
      resources: {limits: {nvidia.com/gpu: 4}}
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
        - --pipeline-parallel-size=4
      env:
        - {name: VLLM_PP_LAYER_PARTITION, value: "20,21,20,19"}
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
