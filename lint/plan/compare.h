// Whether a plan that was written still is what the deployment would get.
#pragma once

#include <string>
#include <vector>

#include "lint/report/json.h"

namespace kvbudget::plan {

struct Difference {
  std::string field;  ///< "admission.tenants.chat.weight"
  std::string before, now;
};

/// In the order of the plan. Lists of things with a name are compared by name.
std::vector<Difference> compare_plans(const Json& before, const Json& now);

}  // namespace kvbudget::plan
