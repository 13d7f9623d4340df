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
    case CacheKind::kCross:
      return SpecKind::kCross;
    case CacheKind::kMamba:
      return SpecKind::kMamba;
  }
  return SpecKind::kFull;
}

uint64_t state_bytes(const LayerCache& cache, uint32_t tensor_parallel) {
  uint64_t bytes = 0;
  for (const StateTensor& tensor : cache.state) {
    uint64_t elements = 1;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const uint64_t ranks = i == tensor.split_dim ? tensor_parallel : 1;
      elements = mul(elements, std::max<uint64_t>(tensor.shape[i] / ranks, 1));
    }
    bytes = add(bytes, mul(elements, layout::bits(tensor.type)) / 8);
  }
  return bytes;
}

/// Tells states of equal size but other shapes apart (FNV-1a over extents and types).
uint32_t state_id(const LayerCache& cache) {
  uint32_t id = 2166136261u;
  const auto mix = [&](uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      id = (id ^ static_cast<uint32_t>((value >> shift) & 0xff)) * 16777619u;
    }
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

bool has_mla(const ModelShape& model) {
  return std::any_of(model.caches.begin(), model.caches.end(),
                     [](const LayerCache& cache) { return cache.kind == CacheKind::kMla; });
}

/// The flag's block size, or what the MLA kernels prefer on Hopper where the flag is the
/// default.
uint32_t block_tokens(const ModelShape& model, const EngineSettings& settings) {
  constexpr uint32_t kDefault = 16;
  constexpr uint32_t kSparse = 64;
  const uint32_t asked = std::max(settings.block_tokens, 1u);
  if (asked != kDefault || !has_mla(model)) return asked;
  if (is_sparse(model)) return kSparse;
  const bool quantised = kv_quant(resolved_kv_dtype(model, settings)) != KvQuant::kNone;
  return quantised ? rules_for(settings.release).quantised_mla_tokens : kDefault;
}

/// Gated-delta kernels of 0.33 keep a checkpoint and want blocks of 64 for heads of 128.
bool keeps_delta_checkpoint(const LayerCache& cache) {
  if (cache.state_kind != StateKind::kGatedDelta || cache.state.size() < 2) return false;
  const std::vector<uint64_t>& shape = cache.state.back().shape;
  return shape.size() == 3 && shape[1] == 128 && shape[2] == 128;
}

CacheSpec state_spec(const LayerCache& cache, const EngineSettings& settings) {
  const PlanRules rules = rules_for(settings.release);
  CacheSpec spec;
  spec.kind = SpecKind::kMamba;
  spec.state_bytes = state_bytes(cache, std::max(settings.tensor_parallel, 1u));
  spec.state_id = state_id(cache);
  spec.shards_context = false;
  spec.speculative_blocks = settings.num_speculative_tokens;
  const bool keeps = (rules.mamba2_keeps_checkpoint && cache.state_kind == StateKind::kMamba2) ||
                     (rules.delta_keeps_checkpoint && keeps_delta_checkpoint(cache));
  spec.checkpoint_blocks = keeps ? 1 : 0;
  return spec;
}

HybridLayers hybrid_layers(const ModelShape& model, const EngineSettings& settings) {
  const PlanRules rules = rules_for(settings.release);
  HybridLayers layers;
  layers.block_tokens = block_tokens(model, settings);
  layers.max_model_len = settings.max_model_len;
  layers.mode = mamba_mode(settings.mamba_cache_mode);
  for (const LayerCache& cache : model.caches) {
    layers.state_chunk_tokens = std::max(layers.state_chunk_tokens, cache.state_chunk_tokens);
    const bool aligned = layers.mode == MambaMode::kAlign && keeps_delta_checkpoint(cache);
    if (rules.delta_keeps_checkpoint && aligned) layers.block_multiple = 64;
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

KvDtype resolved_kv_dtype(const ModelShape& model, const EngineSettings& settings) {
  const KvDtype asked = parse_kv_dtype(settings.kv_cache_dtype).value_or(KvDtype::kAuto);
  if (asked != KvDtype::kAuto || model.kv_cache_scheme.empty()) return asked;
  return parse_kv_dtype(model.kv_cache_scheme).value_or(KvDtype::kAuto);
}

CacheSpec layer_spec(const LayerCache& cache, const ModelShape& model,
                     const EngineSettings& settings) {
  if (cache.kind == CacheKind::kMamba) return state_spec(cache, settings);
  KvDtype dtype = resolved_kv_dtype(model, settings);
  CacheSpec spec;
  spec.kind = spec_kind(cache.kind);
  spec.block_tokens = block_tokens(model, settings);
  spec.head_dim = cache.head_dim;
  spec.value_head_dim = cache.value_head_dim;
  spec.kv_heads = std::max(cache.kv_heads / std::max(settings.tensor_parallel, 1u), 1u);
  if (cache.kind == CacheKind::kMla) {
    spec.kv_heads = 1;
    const bool records = is_sparse(model) && kv_quant(dtype) == KvQuant::kFp8PerTensor;
    if (records) dtype = KvDtype::kFp8DsMla;
    spec.mla_dtype = dtype;
  }
  spec.element = kv_element(dtype, settings.dtype);
  spec.quant = kv_quant(dtype);
  spec.backend_pads = rules_for(settings.release).backends_pad;
  if (cache.stored_type) {
    spec.element = *cache.stored_type;
    spec.quant = KvQuant::kNone;
    spec.mla_dtype = KvDtype::kUnset;
  }
  if (cache.kind == CacheKind::kSliding) spec.window_tokens = cache.window_tokens;
  if (cache.kind == CacheKind::kChunked) spec.chunk_tokens = cache.window_tokens;
  return spec;
}

PlanInput plan_input(const ModelShape& model, const EngineSettings& settings) {
  PlanInput input;
  input.release = settings.release;
  input.max_model_len = settings.max_model_len;
  input.auto_fit = settings.auto_fit_max_model_len;
  input.max_num_batched_tokens = settings.max_num_batched_tokens;
  input.max_in_flight_tokens = in_flight_tokens(settings);
  input.block_tokens = settings.block_tokens;
  input.decode_context_parallel = settings.decode_context_parallel;
  input.prefill_context_parallel = settings.prefill_context_parallel;
  input.num_gpu_blocks_override = settings.num_gpu_blocks_override;
  input.hybrid_manager = settings.hybrid_kv_cache_manager;
  input.mamba_mode = mamba_mode(settings.mamba_cache_mode);

  const uint32_t stages = std::max(settings.pipeline_parallel, 1u);
  input.workers.resize(stages);
  for (uint32_t stage = 0; stage < stages; ++stage) {
    const StageLayers range = stage_layers(model.num_layers, stages, stage);
    const bool last = stage + 1 == stages;
    for (uint32_t i = 0; i < model.caches.size(); ++i) {
      const uint32_t layer = model.caches[i].layer;
      if (layer >= range.first && (layer < range.end || last)) input.workers[stage].push_back(i);
    }
  }
  for (const LayerCache& cache : model.caches) {
    input.layers.push_back(intern(input.specs, layer_spec(cache, model, settings)));
  }
  align_hybrid(hybrid_layers(model, settings), rules_for(settings.release), input.specs);
  return input;
}

}  // namespace kvbudget::memory
