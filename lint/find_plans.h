// The plans (`kvbudget plan`) that stand beside a deployment or are mounted into it.
#pragma once

#include <string>

#include "lint/deployment.h"
#include "lint/inputs.h"

namespace kvbudget {

/// Adds to Deployment::plans those of the folder of its file and of the ConfigMaps in its file.
void find_plans(Deployment& deployment, const Inputs& inputs, const std::string& folder);

}  // namespace kvbudget
