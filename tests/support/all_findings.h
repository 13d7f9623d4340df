// What all rules say of one deployment, without a file around it.
#pragma once

#include <utility>
#include <vector>

#include "rules/all_rules.h"

namespace kvbudget::test {

inline std::vector<Diagnostic> findings_on(const Deployment& d) {
  std::vector<Diagnostic> findings;
  for (const Rule* rule : all_rules()) {
    Reporter reporter(rule->id, rule->name, rule->severity, 0);
    if (rule->check_deployment != nullptr) rule->check_deployment(d, reporter);
    if (rule->check_neighbours != nullptr) rule->check_neighbours({{&d, 1}, 0}, reporter);
    for (Diagnostic& finding : reporter.take()) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace kvbudget::test
