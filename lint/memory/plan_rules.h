// What differs between engine versions in the planning of the KV cache, as data: a new version is
// new lines in plan_rules.cc and nothing else.
//
// Source: vllm/v1/core/kv_cache_utils.py and vllm/v1/kv_cache_interface.py of every minor release
// from 0.10 to 0.33; each rule is dated to the first release that has it.
#pragma once

#include "lint/memory/engine_settings.h"

namespace kvbudget::memory {

/// What one request of the maximum length is checked against before the cache is laid out.
enum class CheckScope : uint8_t {
  kLayers,      ///< every layer for itself, rank by rank
  kWholeModel,  ///< the groups of all ranks together against the smallest rank
  kRank,        ///< each rank's share of the groups
};

/// How groups of mixed page sizes (DeepSeek-V4) share one block.
enum class Packing : uint8_t {
  kTuples,    ///< one page of each size of the full layers, as often as the longest group needs
  kBuckets,   ///< per page size as many slots as the group with most of them
  kWidest,    ///< as wide as the widest group
  kByLayout,  ///< as kWidest, for any model when the layout puts blocks outermost
};

struct PlanRules {
  // Layers.
  bool modelopt_kv_dtype = false;        ///< auto takes the KV dtype of ModelOpt checkpoints
  bool compressed_kv_dtype = false;      ///< … of compressed-tensors checkpoints
  bool compressed_kv_wins = false;       ///< … even against the flag
  bool block_flag_aligns = false;        ///< hybrids: blocks are multiples of the flag's, not of 16
  uint32_t quantised_mla_tokens = 64;    ///< block that FP8 MLA prefers on Hopper
  uint32_t hybrid_mla_tokens = 64;       ///< blocks of hybrids with MLA are a multiple of this
  bool mamba_all_takes_chunks = false;   ///< mode all: … and of the recurrent kernel's chunk
  bool mamba2_keeps_checkpoint = false;  ///< mode align holds one state more
  bool kda_keeps_checkpoint = false;     ///< … of Kimi-K3
  bool delta_keeps_checkpoint = false;   ///< … and blocks are multiples of 64
  bool narrow_values = false;            ///< values narrower than keys are stored as they are
  bool plain_mla = false;                ///< layers of MLA can keep the model's dtype too
  bool plain_pages_pad = false;          ///< where some layers do, blocks grow to their page
  bool backends_pad = false;             ///< attention backends read pages by their stride

  // Page sizes.
  bool full_counts_value_heads = false;
  bool windows_count_value_heads = false;
  bool all_count_value_heads = false;
  bool v4_record_needs_ds_dtype = false;  ///< sliding DeepSeek-V4 layers hold records only in FP8

  // One request's need.
  bool cross_holds_batch = false;  ///< cross attention: a batch; before, the longest encoder input
  bool in_flight_tokens = false;   ///< windows hold the tokens of all batches in flight
  bool prefill_shards_context = false;
  bool shards_per_spec = false;       ///< context parallelism divides only specs that say so
  bool mamba_by_length = false;       ///< a state per block of the context, whatever the mode
  bool mamba_modes = false;           ///< none, align and all differ
  bool mamba_all_speculates = false;  ///< mode all adds the speculative blocks
  bool mamba_all_as_none = false;

  // Grouping.
  bool groups_across_ranks = false;
  bool uniform_types = false;          ///< layers of one type but different sizes share a group
  bool mla_is_a_type = false;          ///< before, MLA is full attention with another page size
  bool sorts_groups = false;           ///< by the name and fields of the spec class
  bool strided_groups = false;         ///< layers[i::n] instead of slices
  uint32_t widen_below_percent = 100;  ///< groups take the larger layer count below this ratio
  bool scales_blocks = false;          ///< smaller pages get larger blocks
  bool pads_by_backend = false;  ///< pages that do not divide are padded where the backend can
  bool pads_attention = false;   ///< … for every attention but MLA
  bool pads_mamba = false;
  bool merges_groups = false;  ///< specs that differ only in what a group reconciles are one group
  bool merge_compares_values = false;
  bool merge_compares_mla = false;
  bool merge_compares_shards = false;
  bool mamba_type_compares_pages = false;
  bool sliding_mla = false;             ///< DeepSeek-V4 groups
  bool sliding_mla_if_mixed = false;    ///< … only when the page sizes differ
  bool sliding_mla_takes_page = false;  ///< sliding pages are padded to a page of the full layers
  Packing packing = Packing::kTuples;
  bool promotes_if_unpaddable = false;  ///< sliding layers beside MLA fall back to full allocation

  // With the hybrid manager off, sliding and chunked layers are promoted to full attention.
  bool promotion_keeps_padding = false;
  bool promotion_keeps_values = false;  ///< value heads and quantisation of sliding layers
  bool promotion_takes_block = false;   ///< the block size of the full layers
  bool promotion_keeps_all = false;

  // Check and result.
  CheckScope check = CheckScope::kLayers;
  bool check_sums_groups = false;  ///< before, only the first group is counted
  bool check_by_pool = false;      ///< need is whole blocks of the pool
  bool projects_groups = false;    ///< mixed groups shrink to a rank's layers
  bool auto_fit = false;
  bool override_decides = false;  ///< num_gpu_blocks_override counts in check and auto-fit
  bool withholds_null_block = false;
  bool concurrency_by_group = false;
  bool shrinks_tensors = false;   ///< to the smallest rank
  bool logs_cache_block = false;  ///< one group: tokens by the flag's block size, not the layers'
  bool logs_concurrency = false;  ///< logged tokens = concurrency x length; before, blocks
};

PlanRules rules_for(EngineRelease release);

}  // namespace kvbudget::memory
