// How fast a card reads its own memory (data/gpu_bandwidth.tsv).
#pragma once

#include <optional>

#include "lint/engine/gpus.h"

namespace kvbudget {

/// Bytes a second as the maker states them; nullopt for cards of no such statement and for slices.
std::optional<double> memory_bandwidth(const Gpu& gpu);

}  // namespace kvbudget
