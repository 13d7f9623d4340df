// `kvbudget diff`: what a change does to the deployments that it touches.
#pragma once

#include "lint/inputs.h"
#include "lint/options.h"
#include "lint/rule.h"
#include "lint/run.h"

namespace kvbudget {

/// Runs the command and returns the exit code; `io` is used for the streams and the files that are
/// written.
int run_diff(const Options& options, RuleTable rules, const Inputs& inputs, Io& io);

}  // namespace kvbudget
