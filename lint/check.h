// Runs the rules over what was collected and settles which findings are shown, in what order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lint/collect.h"
#include "lint/diagnostic.h"
#include "lint/options.h"
#include "lint/rule.h"

namespace kvbudget {

struct RuleChoice {
  std::vector<const Rule*> rules;
  RuleTable all;      ///< that there are
  std::string error;  ///< names the option and the id or name that no rule has
};

/// Applies --select and --ignore, which take ids and names.
RuleChoice choose_rules(const Options& options, RuleTable rules);
/// The rule with that id or name, or null.
const Rule* find_rule(RuleTable rules, std::string_view id_or_name);
/// "no such rule; did you mean …"
std::string no_such_rule(RuleTable rules, std::string_view asked);

/// The engines in `paths`, or in the current folder when there are none; nothing when a project
/// file is wrong, which has then been said.
std::optional<Collection> read_files(const std::vector<std::string>& paths, RuleTable rules,
                                     const Resolver& resolve, Io& io);

/// Findings without the suppressed ones and without doubles, sorted by file, line, column, rule and
/// message, with their fingerprints.
/// `projects` may be null; what it says of a rule holds for the files below it.
std::vector<Diagnostic> check(const Collection& collection, const RuleChoice& choice,
                              bool require_complete, Projects* projects);
/// What is wrong with a project file that was asked, a rule that does not exist included; empty
/// when nothing is. `projects` may be null.
std::string project_error(const Projects* projects, RuleTable rules);

}  // namespace kvbudget
