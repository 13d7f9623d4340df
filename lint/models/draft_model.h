// Models that draft tokens for another one: whole models, and the heads of EAGLE.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lint/memory/model_shape.h"
#include "lint/models/catalogue.h"

namespace kvbudget {

struct DraftResult {
  std::optional<memory::DraftLayers> layers;
  std::string error;  ///< empty when there are layers
};

/// `method` is the engine's: "draft_model", "eagle" or "eagle3". Never throws.
DraftResult read_draft(const ModelFiles& files, std::string_view method,
                       const memory::ModelShape& target);

}  // namespace kvbudget
