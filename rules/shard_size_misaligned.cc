#include <algorithm>

#include "lint/memory/rank_share.h"
#include "lint/memory/suggest.h"
#include "lint/rule.h"
#include "rules/model_facts.h"
#include "rules/parallel_sizes.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

using memory::ElementType;
using memory::Split;
using memory::Weight;

// Releases before which experts in FP8 blocks are refused; since then their scales are refined
// (moe_block_shape in vllm/model_executor/layers/quantization/fp8.py).
constexpr Version kRefinesExperts{0, 29, 0};

enum class Check { kNone, kGroups, kBlocks };

// AWQ, GPTQ and compressed-tensors: "The input size is not aligned with the quantized weight
// shape". FP8 in blocks: "input_size_per_partition is not divisible by weight quantization
// block_k".
Check check_of(const Deployment& d, const Weight& weight) {
  if (weight.split == Split::kNone || weight.split == Split::kVocabulary) return Check::kNone;
  if (weight.encoder != memory::Encoder::kNone || weight.format.group == 0) return Check::kNone;
  if (weight.format.group == UINT32_MAX) return Check::kNone;
  if (weight.format.type == ElementType::kInt4) {
    return weight.expert || weight.split != Split::kColumns ? Check::kNone : Check::kGroups;
  }
  const bool blocks = weight.format.type == ElementType::kFloat8E4M3 &&
                      weight.format.group_rows > 1 && weight.format.group_rows != UINT32_MAX;
  if (!blocks || d.shape->quantization != "fp8") return Check::kNone;
  if (!weight.expert) return weight.split == Split::kColumns ? Check::kBlocks : Check::kNone;
  if (d.engine.expert_parallel || d.version >= kRefinesExperts) return Check::kNone;
  return Check::kBlocks;
}

struct Slice {
  uint64_t size = 0;   ///< of the divided dimension on one rank
  uint32_t group = 1;  ///< that it has to be a multiple of
};

Slice slice_of(const Weight& weight, uint32_t tp) {
  const memory::Dimensions rank = memory::on_rank(weight, tp);
  if (weight.split == Split::kColumns) return {rank.columns, weight.format.group};
  return {rank.rows / std::max(weight.parts, 1U), weight.format.group_rows};
}

bool fits(const Deployment& d, uint32_t tp) {
  const auto& weights = d.shape->weights;
  return std::all_of(weights.begin(), weights.end(), [&](const Weight& weight) {
    if (check_of(d, weight) == Check::kNone) return true;
    const Slice slice = slice_of(weight, tp);
    return slice.size % slice.group == 0;
  });
}

uint32_t largest_that_fits(const Deployment& d) {
  uint32_t tp = d.engine.tensor_parallel;
  while (--tp > 1) {
    if (memory::heads_divide(*d.shape, tp) && fits(d, tp)) return tp;
  }
  return 1;
}

void add_ways_out(const Deployment& d, const Weight& weight, Diagnostic& finding) {
  if (weight.expert) {
    finding.notes.push_back({"--enable-expert-parallel leaves each expert whole on its GPU", {}});
  }
  finding.notes.push_back({"the largest tensor-parallel-size below it that divides the groups is " +
                               std::to_string(largest_that_fits(d)) +
                               "; pipeline-parallel-size divides layers instead",
                           {}});
}

void check(const Deployment& d, Reporter& reporter) {
  const uint32_t tp = d.engine.tensor_parallel;
  if (!d.shape || tp < 2 || !sizes_are_known(d)) return;
  if (!memory::heads_divide(*d.shape, tp)) return;
  for (const Weight& weight : d.shape->weights) {
    if (check_of(d, weight) == Check::kNone) continue;
    const Slice slice = slice_of(weight, tp);
    if (slice.size % slice.group == 0) continue;
    Diagnostic& finding = reporter.report(
        d.where_of("tensor-parallel-size"),
        "tensor-parallel-size " + std::to_string(tp) + " leaves " + std::to_string(slice.size) +
            (weight.split == Split::kColumns ? " columns" : " rows") + " of " + weight.name +
            " on a GPU, no multiple of the " + std::to_string(slice.group) +
            " that share a scale in this " + d.shape->quantization + " checkpoint",
        weight.expert ? exact_severity(d) : Severity::kError);
    add_ways_out(d, weight, finding);
    return;
  }
}

}  // namespace

extern const Rule shard_size_misaligned_rule;
const Rule shard_size_misaligned_rule = {
    .id = "KVB302",
    .name = "shard-size-misaligned",
    .severity = Severity::kError,
    .summary = "tensor parallelism cuts through the groups of a quantised checkpoint",
    .doc = R"md(
## What it does
Divides each quantised weight by `tensor-parallel-size` and compares what a GPU gets with the group or block that
shares a scale.

## Why it matters
vLLM stops while it loads: "The input size is not aligned with the quantized weight shape. This can be caused by too
large tensor parallel size", or "… is not divisible by weight quantization block_n = 128".

## How it is computed
From the shapes and formats of the checkpoint: the input of row-parallel layers in AWQ, GPTQ and compressed-tensors with
groups of 4-bit weights; the same in FP8 blocks; and, without expert parallelism, both sizes of experts in FP8 blocks.
Formats whose kernels pad are not looked at.

## Fix
A size that divides the groups, expert parallelism for experts, or pipeline parallelism.

## Since which engine version
All; for experts in FP8 blocks up to 0.28, after which their scales are refined.

## References
vllm/model_executor/layers/quantization: awq.py, gptq.py, fp8.py, utils/fp8_utils.py; vLLM issues 5675, 11671, 13677,
21695.
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
        - --model=Qwen/Qwen3-30B-A3B-FP8
        - --max-model-len=32768
        - --tensor-parallel-size=4  # expect: KVB302
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
        - --model=Qwen/Qwen3-30B-A3B-FP8
        - --max-model-len=32768
        - --tensor-parallel-size=2
      resources: {limits: {nvidia.com/gpu: 2}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
