#include "lint/rule.h"

#include <utility>

namespace kvbudget {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

Diagnostic& Reporter::report(Location where, std::string message, Severity severity) {
  Diagnostic& finding = findings_.emplace_back();
  finding.rule = rule_;
  finding.name = name_;
  finding.severity = severity;
  finding.where = where;
  finding.message = std::move(message);
  finding.deployment = deployment_;
  return finding;
}

}  // namespace kvbudget
