// What one run found, and the writers that show it. A writer only formats: order, suppression and
// severities are settled before.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"
#include "lint/report/paths.h"
#include "lint/rule.h"

namespace kvbudget {

struct Report {
  size_t files = 0;  ///< read
  std::vector<Deployment> deployments;
  std::vector<Diagnostic> findings;  ///< sorted
  size_t fixed = 0;                  ///< fixes that were applied; their findings are gone
  std::vector<const Rule*> rules;    ///< that ran
  Severity fail_on = Severity::kError;
  bool complete = true;                     ///< every file could be read
  size_t baselined = 0;                     ///< findings that the baseline hides
  std::vector<std::string> stale_baseline;  ///< findings that it holds and that are gone
  ReportFolders folders;

  size_t count(Severity severity) const;
  /// Where a finding is shown: its place, or the start of the engine that it is about.
  Location place_of(const Diagnostic& finding) const;
};

struct TextStyle {
  bool colour = false;
  bool quiet = false;       ///< findings alone: no summary
  bool statistics = false;  ///< findings per rule, below them
};

void write_text(const Report& report, const TextStyle& style, std::ostream& out);
void write_json(const Report& report, std::ostream& out);
void write_sarif(const Report& report, std::ostream& out);
void write_github(const Report& report, std::ostream& out);
void write_gitlab(const Report& report, std::ostream& out);
void write_junit(const Report& report, std::ostream& out);
void write_html(const Report& report, std::ostream& out);

/// How findings can be written, beside text.
inline constexpr std::string_view kFindingFormats[] = {"json",   "sarif", "github",
                                                       "gitlab", "junit", "html"};
/// Writes findings as text or in one of kFindingFormats.
void write_findings(std::string_view format, const Report& report, const TextStyle& style,
                    std::ostream& out);

void write_inspect_text(const std::vector<Deployment>& deployments, std::ostream& out);
void write_inspect_json(const std::vector<Deployment>& deployments, std::ostream& out);

/// Why there is no estimate.
std::string missing_text(const Deployment& deployment);

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
