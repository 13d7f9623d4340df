// Whether an engine starts, beside what it did.

#include <array>
#include <cstdio>
#include <map>

#include "tests/accuracy/observed.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::Verdict;

namespace {

Verdict truth_of(const std::string& outcome) {
  if (outcome == "ok") return Verdict::kStarts;
  return outcome.starts_with("oom_") ? Verdict::kOutOfMemory : Verdict::kRefuses;
}

}  // namespace

TEST_CASE("verdicts are right and never promise a start that fails") {
  constexpr std::array kVerdicts = {Verdict::kStarts, Verdict::kRefuses, Verdict::kOutOfMemory,
                                    Verdict::kUnsure};
  std::map<std::string, std::map<Verdict, int>> table;
  int rows = 0;
  int right = 0;
  int false_fits = 0;
  for (const test::JudgedRun& judged : test::collection().judged) {
    const test::ObservedRun& run = judged.run;
    if (!run.usable("verdict")) continue;
    const memory::Estimate& e = *judged.deployment.estimate;
    ++rows;
    ++table[run.outcome][e.verdict];
    const bool either = run.or_outcome && e.verdict == truth_of(*run.or_outcome);
    if (e.verdict == truth_of(run.outcome) || either) {
      ++right;
      continue;
    }
    false_fits += e.verdict == Verdict::kStarts ? 1 : 0;
    std::printf("wrong: %-50s %s %s: %s, we say %s: %s\n", run.id.c_str(), run.engine.c_str(),
                run.gpu.c_str(), run.outcome.c_str(), memory::verdict_name(e.verdict),
                e.because.c_str());
  }
  std::printf("\n%-14s %8s %8s %14s %8s\n", "outcome", "starts", "refuses", "out_of_memory",
              "unsure");
  for (auto& [outcome, counts] : table) {
    std::printf("%-14s", outcome.c_str());
    for (const Verdict verdict : kVerdicts) std::printf(" %8d", counts[verdict]);
    std::printf("\n");
  }
  std::printf("%d of %d verdicts right (%.1f %%), %d false fits\n", right, rows,
              100.0 * right / rows, false_fits);
  REQUIRE(rows > 0);
  CHECK(false_fits == 0);
  CHECK(right >= 0.90 * rows);
}
