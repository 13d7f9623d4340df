// How findings name cards.
#pragma once

#include <string>

#include "lint/deployment.h"

namespace kvbudget {

inline std::string capability_text(ComputeCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

/// "H100-80GB (compute capability 9.0)", of a deployment whose card is known.
inline std::string card_text(const Deployment& d) {
  return d.gpu->name + " (compute capability " + capability_text(d.gpu->capability) + ")";
}

}  // namespace kvbudget
