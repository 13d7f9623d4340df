#pragma once

#include <memory>

#include "lint/read/document.h"
#include "lint/read/surroundings.h"

namespace kvbudget {

/// Of one Compose service.
std::shared_ptr<const Surroundings> service_surroundings(const Node& service);

}  // namespace kvbudget
