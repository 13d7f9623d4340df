// Findings that are known and accepted for now: a file beside the deployments names them, and only
// new ones are reported.
//
// A finding is known by its fingerprint (lint/fingerprint.h), not by its place or wording. Equal
// findings are counted, so that one more of them is new. The file is JSON with a line for each
// entry, sorted, so that it merges well; everything in it besides "fingerprint" and "count" is for
// its readers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"
#include "lint/fingerprint.h"
#include "lint/rule.h"

namespace kvbudget {

struct BaselineEntry {
  FindingIdentity identity;
  uint64_t count = 0;
};

/// By hash.
using Baseline = std::map<std::string, BaselineEntry>;

Baseline baseline_of(const std::vector<Diagnostic>& findings,
                     std::span<const Deployment> deployments);
std::string baseline_text(const Baseline& baseline);

struct BaselineResult {
  Baseline baseline;
  std::string error;
};
BaselineResult read_baseline(std::string_view text);

struct BaselineUse {
  size_t hidden = 0;
  std::vector<std::string> stale;  ///< what it holds of the rules that ran and is found no more
};

/// Removes the findings that the baseline holds; of equal ones the first, as many as it counts.
BaselineUse hide_known(const Baseline& baseline, RuleTable ran, std::vector<Diagnostic>& findings);

}  // namespace kvbudget
