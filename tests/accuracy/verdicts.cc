#include "tests/accuracy/verdicts.h"

namespace kvbudget::test {
namespace {

using memory::Verdict;

Verdict truth_of(const std::string& outcome) {
  if (outcome == "ok") return Verdict::kStarts;
  return outcome.starts_with("oom_") ? Verdict::kOutOfMemory : Verdict::kRefuses;
}

}  // namespace

VerdictTable judge_verdicts() {
  VerdictTable table;
  for (const JudgedRun& judged : collection().judged) {
    const ObservedRun& run = judged.run;
    if (!run.usable("verdict")) continue;
    const Verdict verdict = judged.deployment.estimate->verdict;
    ++table.rows;
    ++table.by_outcome[run.outcome][verdict];
    const bool either = run.or_outcome && verdict == truth_of(*run.or_outcome);
    if (verdict == truth_of(run.outcome) || either) {
      ++table.right;
      continue;
    }
    table.wrong.push_back(&judged);
    table.false_fits += verdict == Verdict::kStarts ? 1 : 0;
  }
  return table;
}

}  // namespace kvbudget::test
