#include "lint/report/report.h"

#include <algorithm>

namespace kvbudget {

size_t Report::count(Severity severity) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Diagnostic& finding) { return finding.severity == severity; }));
}

}  // namespace kvbudget
