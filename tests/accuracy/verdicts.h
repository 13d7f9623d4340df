// Verdicts of ours beside what engines did.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lint/memory/estimate.h"
#include "tests/accuracy/observed.h"

namespace kvbudget::test {

struct VerdictTable {
  int rows = 0;
  int right = 0;       ///< an unsure verdict is not
  int false_fits = 0;  ///< starts that were promised and failed
  std::map<std::string, std::map<memory::Verdict, int>> by_outcome;
  std::vector<const JudgedRun*> wrong;
};

VerdictTable judge_verdicts();

}  // namespace kvbudget::test
