#include "lint/memory/weights.h"

#include <algorithm>
#include <string_view>

#include "lint/memory/bytes.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/rank_share.h"
#include "lint/memory/torch_allocator.h"

namespace kvbudget::memory {
namespace {

// Bytes of one matrix of these dimensions, with its scales and zero points.
uint64_t matrix_bytes(const Dimensions& d, const WeightFormat& format, ElementType dtype) {
  const uint64_t element_bits = format.fixed_type ? format.bits : layout::bits(dtype);
  const uint64_t bytes = ceil_div(mul(mul(d.rows, d.columns), element_bits), 8);
  if (format.group == 0) return bytes;
  const uint64_t groups = mul(
      ceil_div(d.rows, std::clamp<uint64_t>(format.group_rows, 1, std::max<uint64_t>(d.rows, 1))),
      ceil_div(d.columns, std::clamp<uint64_t>(format.group, 1, std::max<uint64_t>(d.columns, 1))));
  return add(bytes, ceil_div(mul(groups, uint64_t{format.scale_bits} + format.zero_bits), 8));
}

uint64_t part_bytes(const Weight& weight, const EngineSettings& settings) {
  const RankShare share = rank_share(weight, settings);
  return mul(matrix_bytes(share.matrix, weight.format, settings.dtype), share.copies);
}

bool is_left_out(const Weight& weight, const EngineSettings& settings) {
  return (weight.encoder == Encoder::kVision && !settings.vision_encoder) ||
         (weight.encoder == Encoder::kAudio && !settings.audio_encoder);
}

// Bytes of the tensor that begins at weight `i`, which moves behind its parts.
uint64_t tensor_bytes(const ModelShape& model, const EngineSettings& settings, size_t& i) {
  uint64_t tensor = 0;
  do {
    tensor = add(tensor, part_bytes(model.weights[i], settings));
  } while (++i < model.weights.size() && model.weights[i].fused_with_previous);
  return tensor;
}

constexpr std::string_view kDerived = ".absorbed";  // MLA's second copy (models/mla.cc)

}  // namespace

uint64_t rank_weight_bytes(const ModelShape& model, const EngineSettings& settings,
                           uint32_t stage) {
  uint64_t total = 0;
  for (size_t i = 0; i < model.weights.size();) {
    const Weight& first = model.weights[i];
    const uint64_t tensor = tensor_bytes(model, settings, i);
    if (is_left_out(first, settings)) continue;
    const uint64_t times =
        mul(times_on_stage(first, model, settings, stage), first.separate_copies);
    total = add(total, mul(torch_allocated(tensor), times));
  }
  const uint64_t rotary =
      mul(mul(model.rotary_cache_positions, model.rotary_dim), layout::bits(settings.dtype) / 8);
  return add(total, torch_allocated(rotary));
}

Interval weight_interval(uint64_t bytes, const ModelShape& model) {
  // Plain weights of 30 models on 0.6 to 0.28 are within 0.2 % of their logs, one 0.6 %; formats
  // that kernels repack or pad, within 1 % below and 3 % above.
  const uint64_t permille = bytes / 1000;
  const bool repacked = !model.quantization.empty();
  return {bytes - mul(permille, repacked ? 14 : 3), bytes,
          add(bytes, mul(permille, repacked ? 30 : 7))};
}

// Whole tensors move to the host, layer by layer, until `wanted` bytes have:
// maybe_offload_to_cpu in vllm/model_executor/models/utils.py.
uint64_t offloaded_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage,
                         uint64_t wanted) {
  const StageLayers layers = stage_layers(model, settings, stage);
  uint64_t moved = 0;
  for (uint32_t layer = layers.first; layer < layers.end; ++layer) {
    for (size_t i = 0; i < model.weights.size();) {
      const Weight& first = model.weights[i];
      const uint64_t tensor = torch_allocated(tensor_bytes(model, settings, i));
      const bool here = first.place == Place::kLayers && layer >= first.first_layer &&
                        layer < first.first_layer + first.layer_count;
      if (!here) continue;
      if (moved >= wanted) return moved;
      moved = add(moved, mul(tensor, first.separate_copies));
    }
  }
  return moved;
}

uint64_t stored_bytes(const std::vector<Weight>& weights, ElementType dtype) {
  uint64_t total = 0;
  for (const Weight& weight : weights) {
    if (weight.place == Place::kLastStageCopy || weight.name.ends_with(kDerived)) continue;
    const uint64_t times =
        mul(weight.place == Place::kLayers ? weight.layer_count : 1, weight.separate_copies);
    const uint64_t matrix = matrix_bytes({weight.rows, weight.columns}, weight.format, dtype);
    total = add(total, mul(matrix, mul(weight.copies, times)));
  }
  return total;
}

uint64_t parameter_count(const ModelShape& model) {
  uint64_t total = 0;
  for (const Weight& weight : model.weights) {
    if (weight.place == Place::kLastStageCopy) continue;
    const uint64_t times =
        mul(weight.place == Place::kLayers ? weight.layer_count : 1, weight.separate_copies);
    total = add(total, mul(mul(weight.rows, weight.columns), mul(weight.copies, times)));
  }
  return total;
}

}  // namespace kvbudget::memory
