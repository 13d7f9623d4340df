// The rules beside what engines did: each start that failed for want of memory has a rule that
// names the reason, and no rule calls an error what started.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/accuracy/observed.h"
#include "tests/support/all_findings.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// The rules that predict an outcome; any of them will do. KVB106 says that what is taken beside
/// the budget, graphs and the sampler's warm-up, may not find its place.
const std::vector<std::string>& rules_for(const std::string& outcome) {
  static const std::map<std::string, std::vector<std::string>> rules = {
      {"kv_too_small", {"KVB103", "KVB104"}}, {"no_blocks", {"KVB102"}},
      {"mamba_blocks", {"KVB118"}},           {"oom_load", {"KVB101"}},
      {"oom_sampler", {"KVB107", "KVB106"}},  {"oom_profile", {"KVB109", "KVB110"}},
      {"oom_graph", {"KVB108", "KVB106"}}};
  static const std::vector<std::string> none;
  const auto found = rules.find(outcome);
  return found == rules.end() ? none : found->second;
}

bool predicts(const std::string& outcome, const Diagnostic& finding) {
  const std::vector<std::string>& rules = rules_for(outcome);
  return finding.severity != Severity::kInfo &&
         std::find(rules.begin(), rules.end(), finding.rule) != rules.end();
}

bool is_predicted(const test::ObservedRun& run, const std::vector<Diagnostic>& findings) {
  return std::any_of(findings.begin(), findings.end(), [&](const Diagnostic& finding) {
    return predicts(run.outcome, finding) || (run.or_outcome && predicts(*run.or_outcome, finding));
  });
}

/// Runs whose inputs decide whether they start, those without an estimate too: rules that need none
/// may know.
std::vector<const test::JudgedRun*> runs_that(bool started) {
  std::vector<const test::JudgedRun*> runs;
  for (const auto* all : {&test::collection().judged, &test::collection().unplaced}) {
    for (const test::JudgedRun& judged : *all) {
      const bool ok = judged.run.outcome == "ok";
      if (judged.run.usable("verdict") && ok == started) runs.push_back(&judged);
    }
  }
  return runs;
}

std::string listed(const std::vector<Diagnostic>& findings) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    if (finding.severity == Severity::kInfo) continue;
    text +=
        " " + std::string(finding.rule) + "(" + std::string(severity_name(finding.severity)) + ")";
  }
  return text.empty() ? " nothing" : text;
}

}  // namespace

TEST_CASE("starts that failed are predicted by the rule for their failure") {
  const std::vector<const test::JudgedRun*> failures = runs_that(false);
  const auto failed = static_cast<double>(failures.size());
  int predicted = 0;
  for (const test::JudgedRun* judged : failures) {
    const test::ObservedRun& run = judged->run;
    const std::vector<Diagnostic> findings = test::findings_on(judged->deployment);
    const bool hit = is_predicted(run, findings);
    predicted += hit ? 1 : 0;
    std::printf("%-6s %-50s %-8s %-14s%s\n", hit ? "hit" : "missed", run.id.c_str(),
                run.engine.c_str(), run.outcome.c_str(), listed(findings).c_str());
  }
  REQUIRE_FALSE(failures.empty());
  std::printf("%d of %.0f failures predicted by their rule (%.1f %%)\n", predicted, failed,
              100.0 * predicted / failed);
  CHECK(predicted >= 0.85 * failed);
}

TEST_CASE("starts that went well have no error") {
  const std::vector<const test::JudgedRun*> started = runs_that(true);
  REQUIRE_FALSE(started.empty());
  std::printf("%zu starts that went well\n", started.size());
  for (const test::JudgedRun* judged : started) {
    for (const Diagnostic& finding : test::findings_on(judged->deployment)) {
      INFO(judged->run.id << ": " << finding.rule << " " << finding.message);
      CHECK(finding.severity != Severity::kError);
    }
  }
}
