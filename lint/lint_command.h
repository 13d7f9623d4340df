// `kvbudget lint`: reads, checks, fixes, leaves out what the baseline holds, writes.
#pragma once

#include "lint/options.h"
#include "lint/rule.h"
#include "lint/run.h"

namespace kvbudget {

/// Returns the exit code.
int run_lint(const Options& options, RuleTable rules, const Resolver& resolve, Io& io);

}  // namespace kvbudget
