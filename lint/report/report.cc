#include "lint/report/report.h"

#include <algorithm>

namespace kvbudget {

size_t Report::count(Severity severity) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Diagnostic& finding) { return finding.severity == severity; }));
}

Location Report::place_of(const Diagnostic& finding) const {
  const auto index = static_cast<size_t>(finding.deployment);
  if (finding.where || finding.deployment < 0 || index >= deployments.size()) return finding.where;
  return deployments[index].start.where;
}

void write_findings(std::string_view format, const Report& report, const TextStyle& style,
                    std::ostream& out) {
  if (format == "json") return write_json(report, out);
  if (format == "sarif") return write_sarif(report, out);
  if (format == "github") return write_github(report, out);
  if (format == "gitlab") return write_gitlab(report, out);
  if (format == "junit") return write_junit(report, out);
  if (format == "html") return write_html(report, out);
  write_text(report, style, out);
}

}  // namespace kvbudget
