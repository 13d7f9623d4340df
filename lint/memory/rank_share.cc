#include "lint/memory/rank_share.h"

#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/round_up.h"

namespace kvbudget::memory {
namespace {

// vLLM pads the vocabulary to a multiple of 64 before it divides it (vocab_parallel_embedding.py,
// DEFAULT_VOCAB_PADDING_SIZE).
constexpr uint64_t kVocabularyPadding = 64;

// How many of the layers of `weight` lie in the stage.
uint64_t layers_on_stage(const Weight& weight, const StageLayers& layers) {
  const uint64_t first = std::max(weight.first_layer, layers.first);
  const uint64_t last =
      std::min<uint64_t>(uint64_t{weight.first_layer} + weight.layer_count, layers.end);
  return last > first ? last - first : 0;
}

}  // namespace

Dimensions on_rank(const Weight& weight, uint64_t tp) {
  if (weight.heads % tp != 0) return {weight.rows, weight.columns};
  switch (weight.split) {
    case Split::kNone:
      break;
    case Split::kRows:
      return {ceil_div(weight.rows, tp), weight.columns};
    case Split::kColumns:
      return {weight.rows, ceil_div(weight.columns, tp)};
    case Split::kVocabulary:
      return {ceil_div(round_up(weight.rows, kVocabularyPadding), tp), weight.columns};
    case Split::kKvHeads: {
      const uint64_t head_dim = std::max<uint64_t>(weight.head_dim, 1);
      const uint64_t heads = std::max<uint64_t>(weight.rows / head_dim / tp, 1);
      return {mul(heads, head_dim), weight.columns};
    }
  }
  return {weight.rows, weight.columns};
}

RankShare rank_share(const Weight& weight, const EngineSettings& settings) {
  const bool whole = settings.whole_encoders && weight.encoder != Encoder::kNone;
  const uint64_t tp = whole ? 1 : std::max<uint64_t>(settings.tensor_parallel, 1);
  if (weight.expert && settings.expert_parallel) {
    const uint64_t ranks = mul(tp, std::max<uint64_t>(settings.data_parallel, 1));
    return {on_rank(weight, 1), ceil_div(weight.copies, ranks)};
  }
  return {on_rank(weight, tp), weight.copies};
}

uint64_t times_on_stage(const Weight& weight, const ModelShape& model,
                        const EngineSettings& settings, uint32_t stage) {
  const uint32_t stages = std::max(settings.pipeline_parallel, 1U);
  const bool first = stage == 0;
  const bool last = stage + 1 >= stages;
  switch (weight.place) {
    case Place::kFirstStage:
      return first ? 1 : 0;
    case Place::kLayers:
      return layers_on_stage(weight, stage_layers(model, settings, stage));
    case Place::kLastStage:
      return last ? 1 : 0;
    case Place::kLastStageCopy:
      return last && !first ? 1 : 0;
    case Place::kEveryStage:
      return 1;
  }
  return 0;
}

}  // namespace kvbudget::memory
