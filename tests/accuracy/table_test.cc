// The page of figures: KVB_ACCURACY_MARKDOWN=docs/accuracy.md kvb_accuracy_tests writes it.

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/accuracy/comparisons.h"
#include "tests/accuracy/verdicts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string section(const std::string& title, const test::Comparisons& comparisons) {
  std::string text = "\n## " + title + "\n\n" + test::markdown_header();
  for (const test::Comparison* comparison : comparisons.all()) {
    text += test::markdown_row(*comparison);
  }
  return text;
}

std::string verdicts() {
  const test::VerdictTable table = test::judge_verdicts();
  std::string text = "\n## Verdicts\n\n" + std::to_string(table.right) + " of " +
                     std::to_string(table.rows) + " are right, " +
                     std::to_string(table.false_fits) +
                     " promise a start that failed. Not right (an unsure verdict is not):\n\n"
                     "| run | engine | GPU | outcome | verdict |\n|---|---|---|---|---|\n";
  for (const test::JudgedRun* judged : table.wrong) {
    const test::ObservedRun& run = judged->run;
    text += "| " + run.id + " | " + run.engine + " | " + run.gpu + " | " + run.outcome + " | " +
            memory::verdict_name(judged->deployment.estimate->verdict) + " |\n";
  }
  return text;
}

std::string page() {
  return "# How near the estimates are\n\n"
         "Every public start-up log in `fixtures/observed/runs.jsonl` is estimated from its "
         "command "
         "line and compared with what the engine logged (`tests/accuracy`). Errors are absolute, "
         "averaged per model first; \"holds\" is the share of intervals that contain the logged "
         "figure; widths are in GiB, tokens or requests.\n" +
         section("vLLM 0.15 to 0.19 on H100",
                 test::compare(test::core_runs(), test::own_estimate)) +
         section("Other cards and releases, 0.6 to 0.33",
                 test::compare(test::other_runs(), test::own_estimate)) +
         section("Of these, dense models",
                 test::compare(test::other_dense_runs(), test::own_estimate)) +
         verdicts();
}

}  // namespace

TEST_CASE("the page of figures names every term, and every verdict that is not right") {
  const std::string text = page();
  for (const char* term :
       {"weights", "activation", "non-torch", "CUDA graphs", "KV bytes", "tokens", "concurrency"}) {
    INFO(term);
    CHECK(text.find("| " + std::string(term)) != std::string::npos);
  }
  for (const test::JudgedRun* judged : test::judge_verdicts().wrong) {
    CHECK(text.find("| " + judged->run.id + " |") != std::string::npos);
  }
  if (const char* path = std::getenv("KVB_ACCURACY_MARKDOWN")) std::ofstream(path) << text;
}
