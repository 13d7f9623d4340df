// What one run found, and the writers that show it. A writer only formats: order, suppression and
// severities are settled before.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"
#include "lint/rule.h"

namespace kvbudget {

struct Report {
  size_t files = 0;  ///< read
  std::vector<Deployment> deployments;
  std::vector<Diagnostic> findings;  ///< sorted
  size_t fixed = 0;                  ///< fixes that were applied; their findings are gone
  size_t count(Severity severity) const;
};

void write_text(const Report& report, bool colour, std::ostream& out);
void write_json(const Report& report, std::ostream& out);

void write_inspect_text(const std::vector<Deployment>& deployments, std::ostream& out);
void write_inspect_json(const std::vector<Deployment>& deployments, std::ostream& out);

void write_estimate_text(const std::vector<Deployment>& deployments, std::ostream& out);
/// A single object for a command line of our own, `estimates` for files.
void write_estimate_json(const std::vector<Deployment>& deployments, bool single,
                         std::ostream& out);

/// One row a deployment: each serves what `kvbudget size` asked for.
void write_size_text(const std::vector<Deployment>& options, std::ostream& out);
void write_size_json(const std::vector<Deployment>& options, std::ostream& out);

void write_rules_text(RuleTable rules, std::ostream& out);
void write_rules_markdown(RuleTable rules, std::ostream& out);
void write_explanation(const Rule& rule, std::ostream& out);
void write_gpus(std::ostream& out);
void write_models(std::ostream& out);

}  // namespace kvbudget
