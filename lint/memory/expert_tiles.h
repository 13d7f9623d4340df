// How the kernels for MXFP4 experts hold their weights.
//
// The checkpoint's sizes are rounded up to the tiles of the kernel that the engine picks for the
// card, and one of the kernels writes its scales a second time. Other formats are held as stored.
#pragma once

#include <cstdint>

#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

struct ExpertTiles {
  uint32_t inner = 1;   ///< the width of an expert on one rank becomes a multiple of this
  uint32_t hidden = 1;  ///< and the model's hidden size of that
  bool float_biases = false;
  uint32_t scale_rows = 0;    ///< rows of the scales as the kernel reads them; 0: as stored
  bool keeps_scales = false;  ///< beside those as stored
};

ExpertTiles expert_tiles(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu);

}  // namespace kvbudget::memory
