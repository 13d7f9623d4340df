// Whether the sizes of an engine's parallelism can be compared with each other and with the model.
#pragma once

#include "lint/deployment.h"

namespace kvbudget {

/// None of them is decided elsewhere, by a variable or a word that only run time knows.
bool sizes_are_known(const Deployment& d);

}  // namespace kvbudget
