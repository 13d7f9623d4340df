// Which GPUs, how many of them and which settings serve a model at a given context and concurrency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lint/run.h"

namespace kvbudget {

struct SizeRequest {
  std::string model;
  uint64_t context_tokens = 0;
  uint32_t concurrency = 1;
  std::string gpu;  ///< limits the search to this card; empty: all of them
};

struct SizeResult {
  /// For each card the smallest set that serves the request even at the pessimistic end of its
  /// estimate; fewest GPUs first, then the smallest card.
  std::vector<Deployment> options;
  std::string error;  ///< why the model could not be judged
};

SizeResult find_sizes(const SizeRequest& request, const Resolver& resolve);

}  // namespace kvbudget
