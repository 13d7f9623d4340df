// MiniMax-M3: attention to blocks of tokens that an indexer chooses; the indexer keeps keys beside
// the layer's own cache.
#pragma once

#include "lint/models/weights.h"

namespace kvbudget::models {

/// The indexer's cache, where the layer has one. The kernels page by blocks of their own size.
void add_block_indexer_cache(const Config& config, const memory::LayerCache& own,
                             memory::ModelShape& shape);

/// Queries and keys of the indexer, part of the layer's first matrix, and their norms.
void add_block_indexer(const Config& config, uint32_t layer, const memory::ModelShape& shape,
                       WeightList& list);

}  // namespace kvbudget::models
