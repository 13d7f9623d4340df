// What tensor, expert and pipeline parallelism leave of a weight on one rank.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

struct Dimensions {
  uint64_t rows;
  uint64_t columns;
};

/// A matrix on one of `tp` tensor-parallel ranks.
Dimensions on_rank(const Weight& weight, uint64_t tp);

/// Matrices of one tensor, and each of them, on a rank. The experts of a layer are one tensor;
/// expert parallelism gives each rank whole experts instead of a slice of every one.
struct RankShare {
  Dimensions matrix;
  uint64_t copies;
};
RankShare rank_share(const Weight& weight, const EngineSettings& settings);

/// How often a tensor is on a pipeline stage: once for each of its layers there.
uint64_t times_on_stage(const Weight& weight, const ModelShape& model,
                        const EngineSettings& settings, uint32_t stage);

}  // namespace kvbudget::memory
