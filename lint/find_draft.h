// What a deployment drafts tokens with: the second model, head or layers that speculative decoding
// loads.
#pragma once

#include <string_view>

#include "lint/deployment.h"
#include "lint/inputs.h"

namespace kvbudget {

/// Adds the draft's weights and caches to Deployment::shape, or says in Deployment::missing why
/// they are not known. Files are looked for as those of the model, relative ones in `folder` too.
void find_draft(Deployment& deployment, const Inputs& inputs, std::string_view folder);

}  // namespace kvbudget
