// DeepSeek-V4: every layer attends to a window, most of them also to entries that a compressor
// makes of several tokens, chosen by an indexer where the ratio is small.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// The caches of one layer, in the engine's order.
void add_compressed_caches(const Config& config, uint32_t layer, memory::ModelShape& shape);

/// Attention, compressors, indexer and the weights that mix the residual streams.
void add_compressed_attention(const Config& config, uint32_t layer, const memory::ModelShape& shape,
                              WeightList& list);

/// What a layer's router needs beside its matrix: a table by token, or a correction of the scores.
void add_compressed_router(const Config& config, uint32_t layer, const memory::ModelShape& shape,
                           WeightList& list);

/// The head's mixing weights, on every stage.
void add_compressed_head(const Config& config, const memory::ModelShape& shape, WeightList& list);

/// Two float32 caches of cosines and sines, for windows and for compressed entries.
void set_compressed_rotary(const Config& config, memory::ModelShape& shape);

}  // namespace kvbudget::models
