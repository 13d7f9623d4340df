// How findings speak of the engine's release, and how sure they are when nobody states it.
#pragma once

#include <string>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

inline std::string this_engine(const Deployment& d) {
  return d.version_assumed ? "the newest release known here is " + d.version.str()
                           : "this is vLLM " + d.version.str();
}

/// Of a check that holds for some releases only.
inline Severity exact_severity(const Deployment& d) {
  return d.version_assumed ? Severity::kWarning : Severity::kError;
}

}  // namespace kvbudget
