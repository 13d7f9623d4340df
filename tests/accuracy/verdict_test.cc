// Whether an engine starts, beside what it did.
//
// The goal is 95 % right. What is missed, and why: two starts of a private build whose sampler ran
// out of memory with 4 GiB to spare by every account; a start that lacked 0.05 GiB; two starts that
// lie half a GiB apart around the same limit (134 blocks for 256 and for 128 sequences); a sampler
// that found 0.36 GiB too little beside graphs that are not known that well; graphs that took all
// but 0.4 GiB beside the budget and still fitted; images and a video on V0, which left 0.13 GiB
// where 0.37 are expected and 0.44 wanted.

#include <array>
#include <cstdio>

#include "tests/accuracy/verdicts.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::Verdict;

TEST_CASE("verdicts are right and never promise a start that fails") {
  constexpr std::array kVerdicts = {Verdict::kStarts, Verdict::kRefuses, Verdict::kOutOfMemory,
                                    Verdict::kUnsure};
  test::VerdictTable table = test::judge_verdicts();
  for (const test::JudgedRun* judged : table.wrong) {
    const test::ObservedRun& run = judged->run;
    const memory::Estimate& e = *judged->deployment.estimate;
    std::printf("wrong: %-50s %s %s: %s, we say %s: %s\n", run.id.c_str(), run.engine.c_str(),
                run.gpu.c_str(), run.outcome.c_str(), memory::verdict_name(e.verdict),
                e.because.c_str());
  }
  std::printf("\n%-14s %8s %8s %14s %8s\n", "outcome", "starts", "refuses", "out_of_memory",
              "unsure");
  for (auto& [outcome, counts] : table.by_outcome) {
    std::printf("%-14s", outcome.c_str());
    for (const Verdict verdict : kVerdicts) {
      std::printf(verdict == Verdict::kOutOfMemory ? " %14d" : " %8d", counts[verdict]);
    }
    std::printf("\n");
  }
  std::printf("%d of %d verdicts right (%.1f %%), %d false fits\n", table.right, table.rows,
              100.0 * table.right / table.rows, table.false_fits);
  REQUIRE(table.rows > 0);
  CHECK(table.false_fits == 0);
  CHECK(table.right >= 0.90 * table.rows);
}
