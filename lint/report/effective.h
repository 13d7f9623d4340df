// Every setting of a deployment that decides its memory, set or not, with its value in force.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lint/deployment.h"

namespace kvbudget {

/// What the file sets, then the defaults of the settings that memory depends on; sorted by name.
std::vector<std::pair<std::string, Setting>> effective_settings(const Deployment& deployment);

}  // namespace kvbudget
