#include "lint/memory/draft.h"

#include <utility>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

void append(const std::vector<Weight>& from, std::vector<Weight>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

DraftLayers draft_layers(ModelShape shape) {
  DraftLayers draft;
  draft.weights = std::move(shape.weights);
  draft.caches = std::move(shape.caches);
  for (Weight& weight : draft.weights) {
    if (weight.place == Place::kLayers) {
      weight.separate_copies = mul(weight.separate_copies, weight.layer_count);
    }
    if (weight.place != Place::kLastStageCopy) weight.place = Place::kLastStage;
    weight.first_layer = weight.layer_count = 0;
  }
  return draft;
}

ModelShape with_draft(const ModelShape& model, const DraftLayers& draft, EngineRelease release) {
  constexpr uint32_t kSharesHeads = 16;  // minor release: vllm#34385
  ModelShape both = model;
  append(draft.weights, both.weights);
  if (!release.at_least(kSharesHeads)) append(draft.heads, both.weights);
  for (LayerCache cache : draft.caches) {
    cache.layer = model.num_layers == 0 ? 0 : model.num_layers - 1;
    both.caches.push_back(std::move(cache));
  }
  return both;
}

}  // namespace kvbudget::memory
