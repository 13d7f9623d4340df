#include "lint/memory/layer_specs.h"

#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/hybrid_blocks.h"

namespace kvbudget::memory {
namespace {

SpecKind spec_kind(CacheKind kind) {
  switch (kind) {
    case CacheKind::kFull:
      return SpecKind::kFull;
    case CacheKind::kSliding:
      return SpecKind::kSliding;
    case CacheKind::kChunked:
      return SpecKind::kChunked;
    case CacheKind::kMla:
      return SpecKind::kMla;
    case CacheKind::kSlidingMla:
      return SpecKind::kSlidingMla;
    case CacheKind::kCross:
      return SpecKind::kCross;
    case CacheKind::kMamba:
      return SpecKind::kMamba;
  }
  return SpecKind::kFull;
}

/// The window of the convolution, the first tensor's first extent, also holds the tokens of a draft
/// (num_spec in mamba_utils.py).
uint64_t drafted_window(const LayerCache& cache, uint32_t draft_tokens) {
  const bool grows = cache.state_kind == StateKind::kMamba2 ||
                     cache.state_kind == StateKind::kGatedDelta ||
                     cache.state_kind == StateKind::kFlashKda;
  return grows ? draft_tokens : 0;
}

/// A dimension on one rank: with groups that ranks cannot divide there is one for each rank
/// (extra_groups_for_head_shards in mamba_utils.py).
uint64_t divided(const StateTensor& tensor, uint64_t extent, uint64_t ranks) {
  const bool copies = tensor.groups > 0 && tensor.groups % ranks != 0;
  const uint64_t shared = mul(tensor.groups, tensor.group_width);
  if (!copies || shared > extent) return std::max<uint64_t>(extent / ranks, 1);
  return (extent - shared) / ranks + tensor.group_width;
}

uint64_t state_bytes(const LayerCache& cache, uint32_t tensor_parallel, uint32_t draft_tokens) {
  uint64_t bytes = 0;
  uint64_t longer = drafted_window(cache, draft_tokens);
  for (const StateTensor& tensor : cache.state) {
    uint64_t elements = 1;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const uint64_t extent = tensor.shape[i] + longer;
      const bool split = i == tensor.split_dim;
      elements = mul(elements, split ? divided(tensor, extent, tensor_parallel) : extent);
      longer = 0;
    }
    bytes = add(bytes, mul(elements, layout::bits(tensor.type)) / 8);
  }
  return bytes;
}

/// Tells states of equal size but other shapes apart (FNV-1a over extents and types, a word at a
/// time).
uint32_t state_id(const LayerCache& cache) {
  uint32_t id = 2166136261u;
  const auto mix = [&](uint64_t value) {
    id = (id ^ static_cast<uint32_t>(value)) * 16777619u;
    id = (id ^ static_cast<uint32_t>(value >> 32)) * 16777619u;
  };
  for (const StateTensor& tensor : cache.state) {
    for (const uint64_t extent : tensor.shape) mix(extent);
    mix(static_cast<uint64_t>(tensor.type));
  }
  return id;
}

MambaMode mamba_mode(const std::string& spelling) {
  if (spelling == "align") return MambaMode::kAlign;
  return spelling == "all" ? MambaMode::kAll : MambaMode::kNone;
}

/// MLA whose attention is chosen by an indexer: DeepSeek-V3.2 and its like.
bool is_sparse(const ModelShape& model) {
  return std::any_of(model.caches.begin(), model.caches.end(), [](const LayerCache& cache) {
    return cache.kind == CacheKind::kMla && cache.stored_type.has_value();
  });
}

bool is_latent(const LayerCache& cache) {
  return cache.kind == CacheKind::kMla || cache.kind == CacheKind::kSlidingMla;
}

bool has_mla(const ModelShape& model) {
  return std::any_of(model.caches.begin(), model.caches.end(), is_latent);
}

bool is_deepseek_v4(const ModelShape& model) {
  return std::any_of(model.caches.begin(), model.caches.end(),
                     [](const LayerCache& cache) { return cache.deepseek_v4; });
}

/// What all layers of a model share.
struct Storage {
  PlanRules rules;
  KvDtype dtype = KvDtype::kAuto;
  ElementType element = ElementType::kBFloat16;  ///< of the model
  bool sparse = false;
  uint32_t block_tokens = 16;
  uint32_t tensor_parallel = 1;
  uint32_t speculative_blocks = 0;
  PlainCaches plain;
  uint64_t plain_page_bytes = 0;  ///< of windows that keep the model's dtype, 0 where they grow
};

Storage storage_of(const ModelShape& model, const EngineSettings& settings) {
  constexpr uint32_t kDefaultBlock = 16;
  constexpr uint32_t kSparseBlock = 64;
  constexpr uint32_t kCompressedBlock = 256;
  Storage storage;
  storage.rules = rules_for(settings.release);
  storage.dtype = resolved_kv_dtype(model, settings);
  // The one format of its kernels: fp8 is renamed, and from 0.30 auto too (refused before).
  if (is_deepseek_v4(model)) storage.dtype = KvDtype::kFp8DsMla;
  storage.element = settings.dtype;
  storage.sparse = is_sparse(model);
  storage.tensor_parallel = std::max(settings.tensor_parallel, 1u);
  storage.speculative_blocks = settings.num_speculative_tokens;
  storage.block_tokens = std::max(settings.block_tokens, 1u);
  if (kv_quant(storage.dtype) != KvQuant::kNone) storage.plain = settings.plain_caches;
  // What the MLA kernels prefer on Hopper, where the flag is the default.
  if (storage.block_tokens != kDefaultBlock || !has_mla(model)) return storage;
  if (is_deepseek_v4(model)) {
    storage.block_tokens = kCompressedBlock;
  } else if (storage.sparse) {
    storage.block_tokens = kSparseBlock;
  } else if (kv_quant(storage.dtype) != KvQuant::kNone) {
    storage.block_tokens = storage.rules.quantised_mla_tokens;
  }
  return storage;
}

/// Gated-delta kernels of 0.33 keep a checkpoint and want blocks of 64 for heads of 128.
bool keeps_delta_checkpoint(const LayerCache& cache) {
  if (cache.state_kind != StateKind::kGatedDelta || cache.state.size() < 2) return false;
  const std::vector<uint64_t>& shape = cache.state.back().shape;
  return shape.size() == 3 && shape[1] == 128 && shape[2] == 128;
}

CacheSpec state_spec(const LayerCache& cache, const Storage& storage) {
  CacheSpec spec;
  spec.kind = SpecKind::kMamba;
  spec.state_bytes = state_bytes(cache, storage.tensor_parallel, storage.speculative_blocks);
  spec.state_id = state_id(cache);
  spec.shards_context = false;
  spec.speculative_blocks = storage.speculative_blocks;
  const PlanRules& rules = storage.rules;
  const bool keeps = (rules.mamba2_keeps_checkpoint && cache.state_kind == StateKind::kMamba2) ||
                     (rules.kda_keeps_checkpoint && cache.state_kind == StateKind::kFlashKda) ||
                     (rules.delta_keeps_checkpoint && keeps_delta_checkpoint(cache));
  spec.checkpoint_blocks = keeps ? 1 : 0;
  return spec;
}

/// FlashMLA reads DeepSeek-V4's pages at multiples of 576 bytes.
void set_compressed_page(const LayerCache& cache, const Storage& storage, CacheSpec& spec) {
  constexpr uint32_t kAlignment = 576;
  spec.deepseek_v4 = !cache.stored_type.has_value();
  spec.backend_pads = false;
  spec.page_alignment = kAlignment;
  align_page(spec, storage.rules);
}

constexpr uint32_t kKernelBlock = 16;

/// As many tokens as a kernel's blocks fit into the page of the quantised layers.
void fill_page(const Storage& storage, CacheSpec& spec) {
  if (storage.plain_page_bytes == 0) return;
  CacheSpec one = spec;
  one.block_tokens = 1;
  const uint64_t token = std::max<uint64_t>(unpadded_page_bytes(one, storage.rules), 1);
  const uint64_t blocks = std::max<uint64_t>(storage.plain_page_bytes / token / kKernelBlock, 1);
  spec.block_tokens = static_cast<uint32_t>(blocks * kKernelBlock);
  spec.padded_page_bytes = storage.plain_page_bytes;
}

bool stays_plain(const LayerCache& cache, const Storage& storage) {
  const std::vector<uint32_t>& layers = storage.plain.layers;
  if (cache.stored_type || (is_latent(cache) && !storage.rules.plain_mla)) return false;
  if (storage.plain.windows && cache.kind == CacheKind::kSliding) return true;
  return std::find(layers.begin(), layers.end(), cache.layer) != layers.end();
}

CacheSpec spec_of(const LayerCache& cache, const Storage& storage) {
  if (cache.kind == CacheKind::kMamba) return state_spec(cache, storage);
  const bool plain = stays_plain(cache, storage);
  KvDtype dtype = plain ? KvDtype::kAuto : storage.dtype;
  CacheSpec spec;
  spec.kind = spec_kind(cache.kind);
  spec.block_tokens = cache.block_tokens != 0 ? cache.block_tokens : storage.block_tokens;
  spec.head_dim = cache.head_dim;
  spec.value_head_dim = cache.value_head_dim;
  if (cache.value_head_dim > 0 && !storage.rules.narrow_values) {
    spec.value_head_dim = cache.head_dim;
  }
  spec.kv_heads = std::max(cache.kv_heads / storage.tensor_parallel, 1u);
  if (is_latent(cache)) {
    spec.kv_heads = 1;
    const bool records = storage.sparse && kv_quant(dtype) == KvQuant::kFp8PerTensor;
    if (records) dtype = KvDtype::kFp8DsMla;
    spec.mla_dtype = dtype;
  }
  spec.element = kv_element(dtype, storage.element);
  spec.quant = kv_quant(dtype);
  spec.backend_pads = storage.rules.backends_pad;
  if (cache.stored_type) {
    spec.element = *cache.stored_type;
    spec.quant = KvQuant::kNone;
    spec.mla_dtype = KvDtype::kUnset;
  }
  const bool sliding = cache.kind == CacheKind::kSliding || cache.kind == CacheKind::kSlidingMla;
  if (sliding) spec.window_tokens = cache.window_tokens;
  if (cache.kind == CacheKind::kChunked) spec.chunk_tokens = cache.window_tokens;
  spec.tokens_per_state = std::max(cache.tokens_per_state, 1u);
  if (cache.deepseek_v4) set_compressed_page(cache, storage, spec);
  if (plain && sliding) fill_page(storage, spec);
  return spec;
}

/// Blocks of the quantised layers grow until a kernel's block of the plain ones fits into their
/// page
/// (_align_heterogeneous_kv_block_size in vllm/platforms/interface.py).
void make_room_for_plain(const ModelShape& model, Storage& storage) {
  const auto first =
      std::find_if(model.caches.begin(), model.caches.end(), [](const LayerCache& cache) {
        return cache.kind != CacheKind::kMamba && !cache.stored_type && !cache.deepseek_v4;
      });
  if (!storage.plain.any() || !storage.rules.plain_pages_pad || first == model.caches.end()) return;
  Storage one = storage;
  one.block_tokens = 1;
  one.plain = {};
  const uint64_t quantised = unpadded_page_bytes(spec_of(*first, one), one.rules);
  one.dtype = KvDtype::kAuto;
  const uint64_t plain = unpadded_page_bytes(spec_of(*first, one), one.rules);
  if (quantised == 0 || plain <= quantised) return;
  const uint64_t step = std::max<uint64_t>(storage.block_tokens, kKernelBlock);
  const uint64_t blocks = ceil_div(mul(plain, kKernelBlock), mul(step, quantised));
  storage.block_tokens = static_cast<uint32_t>(std::min<uint64_t>(mul(step, blocks), UINT32_MAX));
  storage.plain_page_bytes = mul(storage.block_tokens, quantised);
}

/// The caches of each pipeline stage; draft layers behind the last decoder layer go to the last.
std::vector<std::vector<uint32_t>> stage_caches(const ModelShape& model,
                                                const EngineSettings& settings) {
  const uint32_t stages = std::max(settings.pipeline_parallel, 1u);
  std::vector<std::vector<uint32_t>> caches(stages);
  for (uint32_t stage = 0; stage < stages; ++stage) {
    const StageLayers range = stage_layers(model, settings, stage);
    const bool last = stage + 1 == stages;
    for (uint32_t i = 0; i < model.caches.size(); ++i) {
      const uint32_t layer = model.caches[i].layer;
      if (layer >= range.first && (layer < range.end || last)) caches[stage].push_back(i);
    }
  }
  return caches;
}

HybridLayers hybrid_layers(const ModelShape& model, const EngineSettings& settings,
                           const Storage& storage) {
  HybridLayers layers;
  layers.block_tokens = storage.block_tokens;
  layers.max_model_len = settings.max_model_len;
  layers.mode = mamba_mode(settings.mamba_cache_mode);
  for (const LayerCache& cache : model.caches) {
    layers.state_chunk_tokens = std::max(layers.state_chunk_tokens, cache.state_chunk_tokens);
    const bool aligned = layers.mode == MambaMode::kAlign && keeps_delta_checkpoint(cache);
    if (storage.rules.delta_keeps_checkpoint && aligned) layers.block_multiple = 64;
  }
  return layers;
}

/// Every pipeline stage has a batch in flight, and asynchronous scheduling one more.
uint64_t in_flight_tokens(const EngineSettings& settings) {
  const uint64_t batches =
      std::max(settings.pipeline_parallel, 1u) + (settings.async_scheduling ? 1 : 0);
  return mul(batches, settings.max_num_batched_tokens);
}

/// The index of `spec` among the distinct ones so far.
uint32_t intern(SpecList& specs, const CacheSpec& spec) {
  const auto found = std::find(specs.begin(), specs.end(), spec);
  const auto index = static_cast<uint32_t>(found - specs.begin());
  if (found == specs.end()) specs.push_back(spec);
  return index;
}

// The engine before V1 keeps every token of every layer. With cross attention each layer of the
// model, of the encoder's where that counts, has one cache: blocks of the encoder's tokens come
// from the same pool (vllm/worker/cache_engine.py and bind_kv_cache, 0.6 to 0.10).
ModelShape v0_caches(const ModelShape& model) {
  ModelShape plain = model;
  bool crosses = false;
  for (LayerCache& layer : plain.caches) {
    crosses = crosses || layer.kind == CacheKind::kCross;
    if (layer.kind != CacheKind::kMla && layer.kind != CacheKind::kMamba) {
      layer.kind = CacheKind::kFull;
    }
  }
  if (!crosses) return plain;
  plain.caches.assign(model.num_layers, plain.caches.front());
  for (uint32_t i = 0; i < model.num_layers; ++i) plain.caches[i].layer = i;
  return plain;
}

}  // namespace

StageLayers stage_layers(uint32_t num_layers, uint32_t stages, uint32_t stage) {
  stages = std::max(stages, 1u);
  const uint32_t remaining = num_layers % stages;
  StageLayers range;
  for (uint32_t i = 0; i <= stage && i < stages; ++i) {
    // The last stage also holds the final norm and the head, so it gets none of the remainder.
    const bool extra = i + 1 < stages && i + 1 + remaining >= stages;
    range.first = range.end;
    range.end = range.first + num_layers / stages + (extra ? 1 : 0);
  }
  return range;
}

StageLayers stage_layers(const ModelShape& model, const EngineSettings& settings, uint32_t stage) {
  const std::vector<uint32_t>& partition = settings.pipeline_layers;
  if (stage >= partition.size()) {
    return stage_layers(model.num_layers, settings.pipeline_parallel, stage);
  }
  StageLayers range;
  for (uint32_t i = 0; i <= stage; ++i) {
    range.first = range.end;
    range.end = range.first + partition[i];
  }
  return range;
}

KvDtype resolved_kv_dtype(const ModelShape& model, const EngineSettings& settings) {
  const KvDtype asked = parse_kv_dtype(settings.kv_cache_dtype).value_or(KvDtype::kAuto);
  const auto stored = parse_kv_dtype(model.kv_cache_scheme);
  if (!stored) return asked;
  const PlanRules rules = rules_for(settings.release);
  const bool compressed = model.quantization == "compressed-tensors";
  const bool read = compressed ? rules.compressed_kv_dtype : rules.modelopt_kv_dtype;
  const bool wins = asked == KvDtype::kAuto || (compressed && rules.compressed_kv_wins);
  return read && wins ? *stored : asked;
}

CacheSpec layer_spec(const LayerCache& cache, const ModelShape& model,
                     const EngineSettings& settings) {
  Storage storage = storage_of(model, settings);
  make_room_for_plain(model, storage);
  return spec_of(cache, storage);
}

PlanInput plan_input(const ModelShape& model, const EngineSettings& settings) {
  if (settings.v0_engine) {
    EngineSettings newer = settings;
    newer.v0_engine = false;
    return plan_input(v0_caches(model), newer);
  }
  PlanInput input;
  input.release = settings.release;
  input.max_model_len = settings.max_model_len;
  input.auto_fit = settings.auto_fit_max_model_len;
  input.max_num_batched_tokens = settings.max_num_batched_tokens;
  input.max_in_flight_tokens = in_flight_tokens(settings);
  input.max_encoder_tokens = rules_for(settings.release).cross_holds_batch
                                 ? settings.max_num_batched_tokens
                                 : model.encoder.item_tokens;
  input.block_tokens = settings.block_tokens;
  input.decode_context_parallel = settings.decode_context_parallel;
  input.prefill_context_parallel = settings.prefill_context_parallel;
  input.num_gpu_blocks_override = settings.num_gpu_blocks_override;
  input.hybrid_manager = settings.hybrid_kv_cache_manager;
  input.mamba_mode = mamba_mode(settings.mamba_cache_mode);
  input.blocks_outermost = is_deepseek_v4(model);  // the only layouts of its kernels

  input.workers = stage_caches(model, settings);
  Storage storage = storage_of(model, settings);
  make_room_for_plain(model, storage);
  input.layers.reserve(model.caches.size());
  for (const LayerCache& cache : model.caches) {
    input.layers.push_back(intern(input.specs, spec_of(cache, storage)));
  }
  align_hybrid(hybrid_layers(model, settings, storage), storage.rules, input.specs);
  return input;
}

}  // namespace kvbudget::memory
