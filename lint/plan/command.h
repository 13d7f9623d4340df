// `kvbudget plan PATH`: the block budget of the engine that a file starts, as a file for the
// plugin.
#pragma once

#include "lint/options.h"
#include "lint/run.h"

namespace kvbudget::plan {

int run_plan(const Options& options, RuleTable rules, const Resolver& resolve, Io& io);

}  // namespace kvbudget::plan
