// What was meant by a value that the engine refuses, spelled as it takes it.
#pragma once

#include <string>

#include "lint/deployment.h"
#include "lint/engine/flags.h"

namespace kvbudget {

/// Empty when that is not certain enough to propose.
std::string meant_value(const Deployment& d, const RefusedValue& refused, const Flag& flag);

}  // namespace kvbudget
