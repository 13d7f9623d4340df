// Who reaches the pods of a workload, and which Services the kubelet tells them of.
#pragma once

#include <vector>

#include "lint/read/document.h"
#include "lint/read/surroundings.h"

namespace kvbudget {

/// Fills in what the Services and Ingresses among `roots` mean for `workload`.
void read_services(const Node& workload, const std::vector<NodePtr>& roots, Surroundings& around);

}  // namespace kvbudget
