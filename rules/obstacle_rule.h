// Which rule speaks about the first thing that keeps an engine from starting, so that one cause
// gives one finding.
#pragma once

#include <string_view>

#include "lint/deployment.h"

namespace kvbudget {

/// The id of the rule that names the obstacle of the deployment's estimate; empty when there is
/// neither. Other rules may add what helps, as warnings.
std::string_view rule_of_obstacle(const Deployment& d);

/// Weights, state and one request have too little room; what frees memory may cure it.
bool is_short_of_memory(memory::Obstacle obstacle);

}  // namespace kvbudget
