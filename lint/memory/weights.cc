#include "lint/memory/weights.h"

#include <algorithm>
#include <string_view>

#include "lint/memory/bytes.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/rank_share.h"
#include "lint/memory/round_up.h"
#include "lint/memory/torch_allocator.h"

namespace kvbudget::memory {
namespace {

// A tensor as the engine holds it: elements, scales with zero points, and scales once more as a
// kernel reads them, each of which the allocator books on its own.
struct TensorBytes {
  uint64_t elements = 0;
  uint64_t scales = 0;
  uint64_t rewritten = 0;

  uint64_t booked() const {
    return add(add(torch_allocated(elements), torch_allocated(scales)), torch_allocated(rewritten));
  }
  void join(const TensorBytes& part) {
    elements = add(elements, part.elements);
    scales = add(scales, part.scales);
    rewritten = add(rewritten, part.rewritten);
  }
};

uint64_t element_bytes(const Dimensions& d, const WeightFormat& format, ElementType dtype) {
  const uint64_t bits = format.fixed_type ? format.bits : layout::bits(dtype);
  return ceil_div(mul(mul(d.rows, d.columns), bits), 8);
}

uint64_t scale_bytes(const Dimensions& d, const WeightFormat& format) {
  if (format.group == 0) return 0;
  const uint64_t groups = mul(
      ceil_div(d.rows, std::clamp<uint64_t>(format.group_rows, 1, std::max<uint64_t>(d.rows, 1))),
      ceil_div(d.columns, std::clamp<uint64_t>(format.group, 1, std::max<uint64_t>(d.columns, 1))));
  return ceil_div(mul(groups, uint64_t{format.scale_bits} + format.zero_bits), 8);
}

// A matrix or bias of an expert in whole tiles: gate and up have inner rows, down inner columns.
Dimensions in_tiles(const Dimensions& d, const Weight& weight, const ExpertTiles& tiles) {
  const bool inner_rows = weight.split == Split::kRows;
  const uint64_t parts = std::max(weight.parts, 1U);
  const uint64_t rows = inner_rows ? mul(round_up(ceil_div(d.rows, parts), tiles.inner), parts)
                                   : round_up(d.rows, tiles.hidden);
  if (d.columns == 1) return {rows, 1};
  return {rows, round_up(d.columns, inner_rows ? tiles.hidden : tiles.inner)};
}

TensorBytes matrix_bytes(const Weight& weight, const Dimensions& d, const EngineSettings& settings,
                         const ExpertTiles& tiles) {
  const WeightFormat& format = weight.format;
  const bool tiled = weight.expert && tiles.inner > 1;
  if (!tiled) return {element_bytes(d, format, settings.dtype), scale_bytes(d, format), 0};
  const Dimensions whole = in_tiles(d, weight, tiles);
  const bool wide = tiles.float_biases && d.columns == 1;
  TensorBytes bytes = {element_bytes(whole, format, wide ? ElementType::kFloat32 : settings.dtype),
                       scale_bytes(whole, format), 0};
  if (tiles.scale_rows == 0) return bytes;
  bytes.rewritten = scale_bytes({round_up(whole.rows, tiles.scale_rows), whole.columns}, format);
  if (!tiles.keeps_scales) bytes.scales = 0;
  return bytes;
}

TensorBytes part_bytes(const Weight& weight, const EngineSettings& settings,
                       const ExpertTiles& tiles) {
  const RankShare share = rank_share(weight, settings);
  const TensorBytes one = matrix_bytes(weight, share.matrix, settings, tiles);
  return {mul(one.elements, share.copies), mul(one.scales, share.copies),
          mul(one.rewritten, share.copies)};
}

bool is_left_out(const Weight& weight, const EngineSettings& settings) {
  return (weight.encoder == Encoder::kVision && !settings.vision_encoder) ||
         (weight.encoder == Encoder::kAudio && !settings.audio_encoder);
}

// The tensor that begins at weight `i`, which moves behind its parts.
TensorBytes tensor_bytes(const ModelShape& model, const EngineSettings& settings,
                         const ExpertTiles& tiles, size_t& i) {
  TensorBytes tensor;
  do {
    tensor.join(part_bytes(model.weights[i], settings, tiles));
  } while (++i < model.weights.size() && model.weights[i].fused_with_previous);
  return tensor;
}

// Created with the model: rotary caches, and what DeepStack hands from the tower to layers of the
// decoder for a whole batch (deepstack_input_embeds in vllm/model_executor/models/qwen3_vl.py, 0.11
// to 0.33).
uint64_t buffer_bytes(const ModelShape& model, const EngineSettings& settings) {
  const uint64_t element = layout::bits(settings.dtype) / 8;
  const uint64_t rotary = mul(mul(model.rotary_cache_positions, model.rotary_dim), element);
  const uint64_t states = mul(mul(settings.max_num_batched_tokens, model.hidden_size), element);
  const uint64_t levels = settings.vision_encoder ? less(model.encoder.output_widths, 1) : 0;
  return add(torch_allocated(rotary), mul(torch_allocated(states), levels));
}

constexpr std::string_view kDerived = ".absorbed";  // MLA's second copy (models/mla.cc)

}  // namespace

uint64_t rank_weight_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage,
                           const ExpertTiles& tiles) {
  uint64_t total = 0;
  for (size_t i = 0; i < model.weights.size();) {
    const Weight& first = model.weights[i];
    const TensorBytes tensor = tensor_bytes(model, settings, tiles, i);
    if (is_left_out(first, settings)) continue;
    const uint64_t times =
        mul(times_on_stage(first, model, settings, stage), first.separate_copies);
    total = add(total, mul(tensor.booked(), times));
  }
  return add(total, buffer_bytes(model, settings));
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
                         uint64_t wanted, const ExpertTiles& tiles) {
  const StageLayers layers = stage_layers(model, settings, stage);
  uint64_t moved = 0;
  for (uint32_t layer = layers.first; layer < layers.end; ++layer) {
    for (size_t i = 0; i < model.weights.size();) {
      const Weight& first = model.weights[i];
      const uint64_t tensor = tensor_bytes(model, settings, tiles, i).booked();
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
    const Dimensions whole = {weight.rows, weight.columns};
    const uint64_t matrix =
        add(element_bytes(whole, weight.format, dtype), scale_bytes(whole, weight.format));
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
