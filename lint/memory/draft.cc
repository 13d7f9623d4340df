#include "lint/memory/draft.h"

#include <utility>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

// Adapters change the model alone, and conversion at load time is done by now.
void append(const std::vector<Weight>& from, std::vector<Weight>& to) {
  for (Weight weight : from) {
    weight.linear = false;
    to.push_back(std::move(weight));
  }
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
  uint32_t layer = model.num_layers;  // behind the model's
  for (LayerCache cache : draft.caches) {
    cache.layer = layer++;
    both.caches.push_back(std::move(cache));
  }
  return both;
}

}  // namespace kvbudget::memory
