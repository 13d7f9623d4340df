#include "lint/find_draft.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lint/engine/speculation.h"
#include "lint/memory/draft.h"
#include "lint/models/draft_model.h"
#include "lint/models/online_quantization.h"

namespace kvbudget {
namespace {

void missing(Deployment& d, std::string detail, std::string hint) {
  d.add_missing("draft model", std::move(detail), std::move(hint));
}

void load(Deployment& d, const memory::DraftLayers& draft) {
  const memory::EngineRelease release{d.version.minor * 100U + d.version.patch};
  d.without_draft = d.shape;
  d.shape = std::make_shared<memory::ModelShape>(memory::with_draft(*d.shape, draft, release));
}

// --model-config without an id stands for the model, not for what drafts.
ModelSources sources_of_drafts(const Inputs& inputs) {
  ModelSources sources = inputs.models;
  std::erase_if(sources.configs, [](const ModelSources::Given& given) { return given.id.empty(); });
  return sources;
}

void load_mtp(Deployment& d, const memory::ModelShape& from) {
  if (from.mtp) return load(d, *from.mtp);
  missing(d, "the config of " + from.id + " has no multi-token-prediction layers that are followed",
          "judge this one by hand");
}

void load_model(Deployment& d, const Speculation& asked, const Inputs& inputs,
                std::string_view folder) {
  const FindResult found =
      find_or_fetch(sources_of_drafts(inputs), asked.model, folder, inputs.hub.get());
  if (!found.files) {
    return missing(d, found.error, "pass --model-config " + asked.model + "=PATH");
  }
  if (asked.method == "mtp" || asked.method == "draft_model") {
    const ShapeResult read = read_shape(*found.files);
    if (!read.shape) return missing(d, found.files->source + ": " + read.error, "report it");
    // The engine takes a model with such layers for its layers alone, whatever is asked.
    if (asked.method == "mtp" || read.shape->mtp) return load_mtp(d, *read.shape);
  }
  const DraftResult draft = read_draft(*found.files, asked.method, *d.shape);
  if (draft.layers) return load(d, *draft.layers);
  missing(d, found.files->source + ": " + draft.error, "judge this one by hand");
}

}  // namespace

void find_draft(Deployment& d, const Inputs& inputs, std::string_view folder) {
  const std::optional<Speculation> asked = read_speculation(d.settings);
  if (!asked || !d.shape || drafts_without_model(*asked)) return;
  if (asked->method == "mtp" && (asked->model.empty() || asked->model == d.model)) {
    return load_mtp(d, *d.shape);
  }
  constexpr std::string_view kFollowed[] = {"mtp", "eagle", "eagle3", "draft_model"};
  if (std::find(std::begin(kFollowed), std::end(kFollowed), asked->method) == std::end(kFollowed)) {
    return missing(d, "what the speculative method '" + asked->method + "' loads is not followed",
                   "judge this one by hand");
  }
  if (asked->model.empty()) {
    return missing(d, "the speculative method '" + asked->method + "' names no model",
                   "say which model drafts");
  }
  load_model(d, *asked, inputs, folder);
}

}  // namespace kvbudget
