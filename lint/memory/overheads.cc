#include "lint/memory/overheads.h"

#include <algorithm>

namespace kvbudget::memory {
namespace {

uint64_t from_gib(double value) {
  return value <= 0.0 ? 0 : static_cast<uint64_t>(value * static_cast<double>(kGiB));
}

Interval from_gib(double low, double best, double high) {
  return {from_gib(low), from_gib(best), from_gib(high)};
}

// Sizes of the capture list up to `limit`: 1, 2, 4, then every 8th to 256, then every 16th
// (vllm/config/vllm.py).
double sizes_up_to(const EngineSettings& settings, uint32_t limit) {
  constexpr uint32_t kSmall = 3, kStep = 8, kWideFrom = 256, kWideStep = 16;
  if (limit >= settings.max_cudagraph_size) return settings.cudagraph_sizes;
  const uint32_t listed = kSmall + std::min(limit, kWideFrom) / kStep +
                          (limit > kWideFrom ? (limit - kWideFrom) / kWideStep : 0);
  return std::min(listed, settings.cudagraph_sizes);
}

// Values of one head of the widest attention layer: the latents for MLA.
uint64_t value_width(const ModelShape& model) {
  uint64_t width = 0;
  for (const LayerCache& layer : model.caches) {
    const bool latents = layer.kind == CacheKind::kMla || layer.kind == CacheKind::kSlidingMla;
    const uint64_t own =
        latents ? less(layer.head_dim, model.rotary_dim) : uint64_t{layer.value_head_dim};
    width = std::max(width, own);
  }
  return width;
}

// FlashAttention 3 divides the context of a decoding step; a graph of such a step holds float32
// results and their sums for the most parts that there may be, [splits, heads, tokens, width]:
// flash_attn_max_num_splits_for_cuda_graph in vllm/v1/attention/backends/flash_attn.py and
// mla/flashattn_mla.py (0.11 to 0.33). Hopper alone has that kernel, for 16 bits.
uint64_t attention_split_bytes(const ModelShape& model, const EngineSettings& settings,
                               const GpuMemory& gpu) {
  constexpr uint64_t kSplits = 32;
  constexpr uint64_t kWidest = 256;  // without MLA
  constexpr uint64_t kFloatBytes = 4;
  const uint64_t width = value_width(model);
  const bool mla = model.has_cache(CacheKind::kMla);
  const bool divides = gpu.capability_major == 9 && settings.full_cudagraphs &&
                       settings.release.at_least(11) && layout::bits(settings.dtype) == 16;
  if (!divides || width == 0 || (width > kWidest && !mla)) return 0;
  const uint64_t step = 1 + uint64_t{settings.num_speculative_tokens};
  const uint64_t tokens =
      std::min<uint64_t>(settings.max_cudagraph_size, mul(settings.max_num_seqs, step));
  const uint64_t heads = ceil_div(model.num_heads, std::max(settings.tensor_parallel, 1U));
  return mul(mul(mul(kSplits, tokens), heads), mul(add(width, 1), kFloatBytes));
}

}  // namespace

uint64_t sampler_state_bytes(const ModelShape& model, const EngineSettings& settings) {
  const ProfileRules rules = profile_rules(runner_of(model, settings), settings.release);
  const auto entries = static_cast<double>(mul(settings.max_num_seqs, model.vocab_size));
  return static_cast<uint64_t>(entries * rules.sampler_state_bytes);
}

Interval non_torch_bytes(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu, const Fitted& fitted) {
  const Runner runner = runner_of(model, settings);
  const OverheadRules r = overhead_rules(runner, settings.release, gpu);
  const double unknown = settings.release_assumed ? 0.1 : 0.0;
  // A pipeline of single GPUs showed 0.07 GiB a stage (0.19, H100): less than one GPU alone.
  const bool group = settings.tensor_parallel > 1;
  const double share = !group && settings.pipeline_parallel > 1 ? 0.28 : 1.0;
  const double more = settings.tensor_parallel > 2 ? r.more_ranks : 0.0;
  const double low = group ? r.single_low + r.tensor_low : r.single_low * share;
  const double best = group
                          ? r.single_best + r.tensor_best + more + fitted.non_torch_group_shift_gib
                          : r.single_best * share + fitted.non_torch_shift_gib;
  const double high = group ? r.single_high + r.tensor_high + more : r.single_high;
  const bool counted = profile_rules(runner, settings.release).state_in_budget;
  const double state = counted ? gib(sampler_state_bytes(model, settings)) : 0.0;
  return from_gib(low + state - unknown, best + state, high + state + unknown);
}

Interval cuda_context_bytes(const ModelShape& model, const EngineSettings& settings,
                            const GpuMemory& gpu) {
  const ContextRules r = context_rules(runner_of(model, settings), settings.release, gpu);
  const bool group = settings.tensor_parallel > 1 || settings.pipeline_parallel > 1;
  if (!group) return from_gib(r.single_low, r.single_best, r.single_high);
  const double experts = model.num_experts == 0 ? 0.0 : r.group_experts;
  return from_gib(r.group_low, r.group_best + experts, r.group_high + experts);
}

// The first capture takes the scratch memory of the largest batch, each further graph what the
// driver keeps per kernel. But for attention that is fitted to 21 models on H100 (0.19, 51 sizes,
// in pieces and whole; four fifths within 10 %); small lists: 16 sizes 0.36 GiB, one size 0.03.
Interval cuda_graph_bytes(const ModelShape& model, const EngineSettings& settings,
                          const GpuMemory& gpu, const Fitted& fitted) {
  if (settings.cudagraph_sizes == 0 || settings.enforce_eager) return {};
  constexpr double kGraphsOfFit = 102.0;
  constexpr double kFewGraphs = 20.0;
  constexpr double kMlpUnit = 1e4;
  const ProfileRules rules = profile_rules(runner_of(model, settings), settings.release);
  const double whole =
      settings.full_cudagraphs ? sizes_up_to(settings, settings.max_num_seqs) : 0.0;
  // With adapters and without: cudagraph_specialize_lora, from 0.11.1.
  const bool twice = settings.lora.slots != 0 && settings.release.at_least(11, 1);
  const double sizes = double{1.0} * settings.cudagraph_sizes;
  const double graphs = (rules.graphs_in_pieces ? sizes + whole : sizes) * (twice ? 2.0 : 1.0);
  const double layers = model.num_layers / std::max(1.0, double{1.0} * settings.pipeline_parallel);
  const double elements = layout::bits(settings.dtype) / 16.0;
  const double mlp =
      model.intermediate_size * elements / std::max(1.0, double{1.0} * settings.tensor_parallel);
  const bool experts = model.num_experts != 0;
  const bool own_workspaces = experts && rules.expert_graph_layer_gib > 0.0;
  const double once = fitted.graph_first_gib + fitted.graph_mlp_gib * mlp / kMlpUnit +
                      (experts && !own_workspaces ? fitted.graph_experts_gib : 0.0);
  const double pool =
      rules.graph_scale * (once * std::min(1.0, graphs / kFewGraphs) +
                           fitted.graph_layer_gib * layers * graphs / kGraphsOfFit) +
      gib(attention_split_bytes(model, settings, gpu)) +
      (own_workspaces ? rules.expert_graph_layer_gib * layers : 0.0);
  // Estimates of the engine's own miss the pool by up to a factor of two.
  const double high = rules.graphs_in_budget ? 2.2 : (experts ? 1.42 : 1.2);
  return from_gib(pool * (experts ? 0.68 : 0.75), pool, pool * high);
}

}  // namespace kvbudget::memory
