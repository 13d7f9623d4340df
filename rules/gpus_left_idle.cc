#include <algorithm>

#include "lint/rule.h"
#include "rules/parallel_sizes.h"

namespace kvbudget {
namespace {

// Slices of a card are asked for to get their memory, and each is a device of its own.
bool are_whole_cards(const Deployment& d) {
  const std::string& resource = d.start.gpu.resource;
  return resource.empty() || resource == "nvidia.com/gpu" || resource == "amd.com/gpu";
}

bool is_in_container(const Deployment& d) {
  return d.start.around && (d.start.around->kubernetes || d.start.around->compose);
}

// Ranks of data parallelism on the other machines of a group are not this command's.
bool spreads_over_pods(const Deployment& d) {
  return d.start.nodes && d.start.nodes->value > 1 && d.engine.data_parallel > 1;
}

// Several engines of one container share its GPUs.
bool stands_alone(const Neighbours& file, const Deployment& d) {
  return std::count_if(file.deployments.begin(), file.deployments.end(),
                       [&](const Deployment& other) { return other.start.name == d.start.name; }) ==
         1;
}

void check(const Neighbours& file, Reporter& reporter) {
  for (size_t i = 0; i < file.deployments.size(); ++i) {
    const Deployment& d = file.deployments[i];
    if (!d.gpu_count_where || !is_in_container(d) || !are_whole_cards(d)) continue;
    if (d.spans_other_machines() || spreads_over_pods(d)) continue;
    const uint64_t ranks = d.local_ranks();
    if (ranks >= d.gpu_count || !sizes_are_known(d) || !stands_alone(file, d)) continue;
    reporter.about(file.first + static_cast<int>(i));
    Diagnostic& finding = reporter.report(
        d.gpu_count_where, std::to_string(d.gpu_count) + " GPUs are reserved and the engine uses " +
                               std::to_string(ranks));
    finding.notes.push_back(
        {"ask for fewer, or raise tensor-parallel-size or data-parallel-size",
         d.settings.has("tensor-parallel-size") ? d.where_of("tensor-parallel-size") : Location{}});
  }
}

}  // namespace

extern const Rule gpus_left_idle_rule;
const Rule gpus_left_idle_rule = {
    .id = "KVB306",
    .name = "gpus-left-idle",
    .severity = Severity::kWarning,
    .summary = "the container gets more GPUs than the engine uses",
    .doc = R"md(
## What it does
Compares the GPUs of a container with the ranks of its engine.

## Why it matters
The rest is reserved for nothing: `tensor-parallel-size` is 1 unless somebody sets it, however many GPUs there are.

## How it is computed
As KVB305, the other way round: the container's GPU limit or the compose file's devices against the product of tensor,
pipeline, context and local data parallelism. Silent where a size is decided elsewhere, where Ray or other machines
bring ranks (data parallelism over the pods of a group, too), and where one container starts several engines.

## Fix
A smaller limit, or a larger size.

## Since which engine version
All.

## References
vllm/config/parallel.py.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=2
      resources: {limits: {nvidia.com/gpu: 4}}  # expect: KVB306
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=4
      resources: {limits: {nvidia.com/gpu: 4}}
)yaml",
    .check_neighbours = &check,
};

}  // namespace kvbudget
