// What goes with a plan, ready to be copied: flags, a ConfigMap, its mount, alerts.
#pragma once

#include <iosfwd>

#include "lint/plan/plan.h"

namespace kvbudget::plan {

/// A stream of YAML documents.
void write_snippets(const Plan& plan, std::ostream& out);

}  // namespace kvbudget::plan
