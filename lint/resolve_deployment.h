// From an engine start to a Deployment: version, settings, model, GPU, numbers, estimate, and what
// was missing.
#pragma once

#include "lint/deployment.h"
#include "lint/inputs.h"

namespace kvbudget {

/// Never fails: what cannot be found out is named in Deployment::missing, and then there is no
/// estimate.
Deployment resolve_deployment(const EngineStart& start, const Inputs& inputs);

}  // namespace kvbudget
