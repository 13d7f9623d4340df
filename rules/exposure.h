// Who reaches a server from outside, and what keeps strangers out.
#pragma once

#include <optional>

#include "lint/deployment.h"

namespace kvbudget {

/// How the file lets the world in; nullopt where it does not, and for servers that listen only to
/// their own machine.
std::optional<Exposure> exposure_of(const Deployment& d);

/// A key is set, or may be: some of the container's variables come from elsewhere.
bool has_api_key(const Deployment& d);
/// A key is set by name.
bool names_api_key(const Deployment& d);

}  // namespace kvbudget
