// The numbers an engine runs with, after defaults: the input of the memory model beside the model's
// shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout/dtype.h"

namespace kvbudget::memory {

using layout::ElementType;

/// A release as the memory model compares them: 0.19.1 is 1901.
struct EngineRelease {
  uint32_t number = 0;
  constexpr bool at_least(uint32_t minor, uint32_t patch = 0) const {
    return number >= minor * 100 + patch;
  }
};

/// Room for adapters beside the model: --enable-lora and the flags that go with it.
struct LoraSlots {
  uint32_t slots = 0;  ///< max-loras; 0 without LoRA
  uint32_t rank = 16;  ///< max-lora-rank
  bool fully_sharded = false;
  bool shared_experts = false;    ///< one matrix for all experts where adapters share it
  uint32_t extra_vocabulary = 0;  ///< words that an adapter may add (before 0.12)
  ElementType type = ElementType::kBFloat16;
};

/// Layers whose cache keeps the model's dtype: --kv-cache-dtype-skip-layers.
struct PlainCaches {
  std::vector<uint32_t> layers;
  bool windows = false;  ///< all layers with a sliding window
  bool any() const { return windows || !layers.empty(); }
};

struct EngineSettings {
  EngineRelease release;
  bool release_assumed = false;  ///< nobody stated it: what differs between releases widens terms
  bool v0_engine = false;        ///< the engine before V1: the default up to 0.7
  std::optional<bool> model_runner_v2;  ///< $VLLM_USE_V2_MODEL_RUNNER; the release decides if unset
  std::optional<bool> graphs_in_budget;  ///< $VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS, likewise
  uint32_t tensor_parallel = 1;
  uint32_t pipeline_parallel = 1;
  /// $VLLM_PP_LAYER_PARTITION: layers of each stage; empty where the engine divides them itself.
  std::vector<uint32_t> pipeline_layers;
  uint32_t data_parallel = 1;
  uint32_t decode_context_parallel = 1;
  uint32_t prefill_context_parallel = 1;
  bool expert_parallel = false;
  uint64_t max_model_len = 0;       ///< tokens
  uint64_t model_length_limit = 0;  ///< tokens the engine accepts at most; 0: it does not check
  bool auto_fit_max_model_len =
      false;  ///< max-model-len -1 or auto: lowered to what the cache holds
  uint32_t max_num_seqs = 0;
  uint32_t max_num_batched_tokens = 0;
  uint32_t block_tokens = 16;  ///< block-size
  double gpu_memory_utilization = 0.9;
  std::optional<uint64_t> kv_cache_memory_bytes;
  std::optional<uint64_t> num_gpu_blocks_override;
  ElementType dtype = ElementType::kBFloat16;  ///< of activations and unquantised weights
  std::string kv_cache_dtype =
      "auto";  ///< vLLM's spelling; "auto" follows `dtype` or the checkpoint
  PlainCaches plain_caches;
  bool enforce_eager = false;
  uint32_t cudagraph_sizes = 0;     ///< number of batch sizes captured, 0 with eager
  uint32_t max_cudagraph_size = 0;  ///< tokens
  bool full_cudagraphs = true;      ///< whole decode steps are captured too, not only pieces
  bool prefix_caching = true;
  bool async_scheduling = false;
  bool hybrid_kv_cache_manager = true;
  std::string mamba_cache_mode = "none";
  uint32_t num_speculative_tokens = 0;
  LoraSlots lora;
  double cpu_offload_gib = 0.0;  ///< per GPU
  bool vision_encoder = true;    ///< false: left out, since no images or videos are taken
  bool audio_encoder = true;
  bool whole_encoders = false;   ///< every rank holds all of them: mm-encoder-tp-mode data
  bool profile_encoders = true;  ///< false: skip-mm-profiling
  /// limit-mm-per-prompt, 1 where it says nothing.
  uint32_t images_per_prompt = 1;
  uint32_t videos_per_prompt = 1;
  uint64_t max_image_pixels = 0;  ///< mm-processor-kwargs; 0: the processor's own
};

/// The card as memory sees it.
struct GpuMemory {
  uint64_t total_bytes = 0;
  uint8_t capability_major = 0;  ///< 0 on other vendors' cards
  uint8_t capability_minor = 0;
  /// Lowest and highest total seen on such cards; 0 where the total is known exactly.
  uint64_t low_bytes = 0;
  uint64_t high_bytes = 0;

  uint64_t lowest() const { return low_bytes == 0 ? total_bytes : low_bytes; }
  uint64_t highest() const { return high_bytes == 0 ? total_bytes : high_bytes; }
};

}  // namespace kvbudget::memory
