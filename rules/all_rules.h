// The table of every rule, in the order of rules.def.
#pragma once

#include "lint/rule.h"

namespace kvbudget {

RuleTable all_rules();

}  // namespace kvbudget
