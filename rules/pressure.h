// Whether the KV cache is what limits a service: rules that know a better layout for it say so more
// loudly then.
#pragma once

#include <string>

#include "lint/deployment.h"

namespace kvbudget {

/// Something is left for the cache, if too little: other layouts of it matter.
bool cache_matters(const Deployment& d);

/// "the cache holds about 830,176 tokens", or that it does not hold one request.
std::string cache_text(const memory::Estimate& estimate);

/// The cache does not hold one request of max_model_len, or not the load that the project states.
/// False where there is no estimate.
bool cache_is_short(const Deployment& d);

}  // namespace kvbudget
