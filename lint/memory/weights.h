// Bytes of weights that one rank holds.
#pragma once

#include <cstdint>
#include <vector>

#include "lint/memory/bytes.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/expert_tiles.h"
#include "lint/memory/model_shape.h"

namespace kvbudget::memory {

/// Weights, scales and rotary cache of one tensor-parallel rank in pipeline stage `stage`, as the
/// engine books them (torch_allocator.h), experts in the tiles of their kernels. CPU offload is not
/// taken off. Saturates instead of overflowing.
uint64_t rank_weight_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage,
                           const ExpertTiles& tiles = {});

/// What --cpu-offload-gb moves off a rank when it asks for `wanted` bytes: whole tensors.
uint64_t offloaded_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage,
                         uint64_t wanted, const ExpertTiles& tiles = {});

/// The error that a count of `bytes` may have: small for plain weights, more for formats that
/// kernels repack.
Interval weight_interval(uint64_t bytes, const ModelShape& model);

/// Bytes of the tensors as a checkpoint stores them: undivided, in the checkpoint's own dtype where
/// formats leave it open, without what the engine derives or copies.
uint64_t stored_bytes(const std::vector<Weight>& weights, ElementType dtype);

/// Parameters of the whole model as stored (packed formats count every element they hold).
uint64_t parameter_count(const ModelShape& model);

}  // namespace kvbudget::memory
