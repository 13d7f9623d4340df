#pragma once

#include <memory>
#include <vector>

#include "lint/read/document.h"
#include "lint/read/surroundings.h"

namespace kvbudget {

/// What the workload and its neighbours say: update strategy, Services that select its pods, volume
/// claims. `roots` are the documents of the file.
std::shared_ptr<const Surroundings> workload_surroundings(const Node& workload,
                                                          const std::vector<NodePtr>& roots);

/// Of one container, `spec` being its pod's. `workload` may be null.
std::shared_ptr<const Surroundings> container_surroundings(const Node& container, const Node& spec,
                                                           const Surroundings* workload);

}  // namespace kvbudget
