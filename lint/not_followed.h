// What would make an estimate wrong, since it is not followed here: named among what is missing, so
// that there is no estimate and nobody is told that a start is good.
#pragma once

#include "lint/deployment.h"

namespace kvbudget {

/// Of settings, variables and model; before the numbers are resolved.
void name_unfollowed_inputs(Deployment& d);

/// Memory that the engine takes and no term counts; after the numbers are resolved.
void name_uncounted_memory(Deployment& d);

}  // namespace kvbudget
