// What vLLM measures at start rather than computes, as coefficients per release and class of GPU.
//
// Every figure is data with its source (engine_model.cc); the code that uses them follows the
// engine's own reasons (activation.cc, overheads.cc). A new release that changes one of them adds a
// row there and nothing else.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"

namespace kvbudget::memory {

/// Where a start-up takes the memory of a dummy sampling step.
enum class SamplerPlace : uint8_t {
  kInProfile,   ///< part of the activation peak
  kAfterBudget  ///< warmed up outside utilisation x total (Model Runner V2)
};

/// The profile run of one release.
struct ProfileRules {
  SamplerPlace sampler = SamplerPlace::kInProfile;
  double sampler_bytes =
      0.0;         ///< per sequence and vocabulary entry, beside the logits in the model's type
  bool v1 = true;  ///< false: the V0 engine, known only roughly
  bool graphs_in_budget = false;  ///< the CUDA graph estimate is subtracted
  double activation_low = 1.0;    ///< factors and bytes that bound the peak
  double activation_high = 1.0;
  uint64_t activation_extra_high_bytes = 0;
};
ProfileRules profile_rules(EngineRelease release, bool moe);

/// Memory that CUDA, cuBLAS, NCCL and all-reduce buffers take per rank, in bytes.
struct OverheadRules {
  double single_low, single_best, single_high;  ///< GiB, one GPU
  double tensor_low, tensor_best, tensor_high;  ///< GiB on top with tensor parallelism
};
OverheadRules overhead_rules(EngineRelease release, const GpuMemory& gpu);

}  // namespace kvbudget::memory
