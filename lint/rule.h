// The interface every rule implements; see rules/ for one file per rule.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

/// Where a rule puts what it found. The rule's id, name and severity are filled in by the caller.
class Reporter {
 public:
  /// Adds a finding at the rule's own severity.
  Diagnostic& report(Location where, std::string message) {
    return report(where, std::move(message), severity_);
  }
  /// Adds a finding at another severity (an estimate that only the pessimistic end fails is a
  /// warning).
  Diagnostic& report(Location where, std::string message, Severity severity);

  /// Of a rule that sees several deployments: the one that the next findings are about.
  void about(int deployment) { deployment_ = deployment; }

  Reporter(std::string_view rule, std::string_view name, Severity severity, int deployment)
      : rule_(rule), name_(name), severity_(severity), deployment_(deployment) {}
  std::vector<Diagnostic> take() { return std::move(findings_); }

 private:
  std::string_view rule_;
  std::string_view name_;
  Severity severity_;
  int deployment_;
  std::vector<Diagnostic> findings_;
};

/// A suppression that should not stand as it does.
struct SuppressionFault {
  enum class Kind { kUnknownRule, kHidesNothing, kNoReason };
  Kind kind = Kind::kHidesNothing;
  std::string_view rule;  ///< as written
  std::string hint;       ///< unknown rules: "did you mean …"
  Location where;
};

/// The deployments of one file, in its order; `first` is the index of the first in the report.
struct Neighbours {
  std::span<const Deployment> deployments;
  int first = 0;
};

struct Rule {
  std::string_view id;    ///< "KVB103", never reused
  std::string_view name;  ///< "max-model-len-exceeds-kv": reads well as "allow …"
  Severity severity = Severity::kWarning;
  std::string_view summary;  ///< one sentence, lower case, no final full stop
  std::string_view doc;      ///< Markdown with the headings of rules/README.md
  std::string_view
      bad;  ///< a file on which the rule fires exactly at the lines marked `# expect: KVB…`
  std::string_view good;  ///< a file on which no rule fires
  /// One of the four is set: rules see a whole deployment, those of one file side by side, the
  /// syntax errors of a file, or what is wrong with suppressions.
  void (*check_deployment)(const Deployment&, Reporter&) = nullptr;
  void (*check_neighbours)(const Neighbours&, Reporter&) = nullptr;
  void (*check_file)(const std::vector<SyntaxError>&, Reporter&) = nullptr;
  void (*check_suppression)(const SuppressionFault&, Reporter&) = nullptr;
};

using RuleTable = std::span<const Rule* const>;

}  // namespace kvbudget
