// What rules about load ask: the part of a declared load that one engine serves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lint/deployment.h"
#include "lint/memory/load.h"

namespace kvbudget {

/// The load of one engine of several replicas and data-parallel ranks.
struct EngineLoad {
  double concurrency = 0.0;
  uint64_t tokens = 0;  ///< of a request in the middle of its answer
  uint64_t shared_prefix = 0;
};

/// Engines that share the load.
double engine_count(const Deployment& d);

/// Nullopt where concurrency or prompt are not declared.
std::optional<EngineLoad> engine_load(const Deployment& d);

/// The engine starts, so that its cache can be asked what it holds.
bool has_cache(const Deployment& d);

/// Requests that the cache holds while they decode.
memory::HeldRequests held_requests(const Deployment& d, uint64_t tokens, uint64_t shared_prefix);

/// "32", "10.7": a number of requests.
std::string count_text(double requests);

}  // namespace kvbudget
