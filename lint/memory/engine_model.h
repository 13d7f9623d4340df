// What vLLM measures at start rather than computes, as data per release, model runner and class of
// GPU.
//
// Every figure has its source beside it (engine_model.cc); the code that uses them follows the
// engine's own reasons (activation.cc, overheads.cc). A new release that changes one of them adds a
// row there and nothing else.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// The code that profiles and serves.
enum class Runner : uint8_t {
  kV0,  ///< vllm/worker, the default up to 0.7
  kV1,  ///< vllm/v1/worker/gpu_model_runner.py
  kV2   ///< vllm/v1/worker/gpu: some models from 0.22, dense ones from 0.25, all from 0.29
};
Runner runner_of(const ModelShape& model, const EngineSettings& settings);

/// The profile run of one runner in one release.
struct ProfileRules {
  /// The dummy sampling step, per sequence and vocabulary entry, beside the logits themselves.
  double sampler_bytes = 0.0;
  bool sampler_rows = false;  ///< and one float32 row of the vocabulary per multiprocessor
  /// The same in the warm-up after the cache has been allocated, logits included; 0 where that is
  /// the profile's step once more.
  double warm_up_bytes = 0.0;
  /// What a sampler keeps per sequence and vocabulary entry, and whether the budget counts that.
  double sampler_state_bytes = 0.0;
  bool state_in_budget = false;
  /// The forward pass holds that many hidden states beside its widest MLP.
  double hidden_widths = 0.0;
  bool experts_stay = false;            ///< workspaces of expert kernels outlive the forward pass
  bool compiler_copies = false;         ///< a cold compile holds a second embedding table
  bool graphs_in_budget = false;        ///< the CUDA graph estimate is subtracted
  bool graphs_in_pieces = false;        ///< captured piece by piece as well as whole
  double graph_scale = 1.0;             ///< of the pool, in relation to V1 on 0.19
  double expert_graph_layer_gib = 0.0;  ///< workspaces that graphs keep for themselves, per layer
  double trust = 0.0;                   ///< share of the peak by which it may be off
  bool skips_encoders = false;          ///< images and videos are not profiled at all
};
ProfileRules profile_rules(Runner runner, EngineRelease release);

/// GiB that CUDA, cuBLAS, NCCL and all-reduce buffers take per rank.
struct OverheadRules {
  double single_low, single_best, single_high;  ///< one GPU
  double tensor_low, tensor_best, tensor_high;  ///< on top with two ranks
  double more_ranks;                            ///< on top with more than two
};
OverheadRules overhead_rules(Runner runner, EngineRelease release, const GpuMemory& gpu);

/// GiB of CUDA contexts and communicators that are there before the engine counts anything.
struct ContextRules {
  double single_low, single_best, single_high;
  double group_low, group_best, group_high;  ///< with tensor or pipeline parallelism
  double group_experts;                      ///< and more for models with experts
};
ContextRules context_rules(Runner runner, EngineRelease release, const GpuMemory& gpu);

/// Streaming multiprocessors of a card, as far as its memory and capability tell.
uint32_t multiprocessors(const GpuMemory& gpu);

/// Scratch memory that PyTorch gives cuBLAS.
uint64_t cublas_workspace_bytes(const GpuMemory& gpu);

/// The figures that no code explains, fitted to start-up logs. Tests fit them anew without one
/// model at a time to see how much they depend on it.
struct Fitted {
  double activation_mib = 3.0;  ///< metadata of a batch
  double graph_first_gib = 0.123;
  double graph_layer_gib = 0.0142;         ///< per layer, for 102 graphs
  double graph_mlp_gib = 0.052;            ///< per 10,000 columns of 16 bits of the MLP on a rank
  double graph_experts_gib = 0.296;        ///< for models with experts
  double non_torch_shift_gib = 0.0;        ///< added to non-torch memory of one rank
  double non_torch_group_shift_gib = 0.0;  ///< … of each rank of several
};

}  // namespace kvbudget::memory
