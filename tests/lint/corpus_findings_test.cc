// What lint says of the files that people really deploy, line by line, in
// fixtures/corpus_findings.tsv: file, line, rule, severity and, for each error, the reason why it
// is one, found by reading the file. A finding that comes or goes fails the test; after looking at
// it, write the list anew with
//
//     KVB_APPROVE=1 ctest --test-dir build/dev -R "files that people deploy"
//
// which keeps the reasons.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/shared.h"

using namespace kvbudget;
namespace fs = std::filesystem;

namespace {

const std::string kList = KVB_SOURCE_DIR "/fixtures/corpus_findings.tsv";

/// "file<TAB>line<TAB>rule<TAB>severity", and the reason behind it.
using Findings = std::map<std::string, std::string>;

Findings found_in(const fs::path& folder) {
  const Outcome outcome = run_program("lint --json " + folder.string());
  REQUIRE((outcome.code == 0 || outcome.code == 1));
  Findings findings;
  const nlohmann::json report = nlohmann::json::parse(outcome.output);
  for (const auto& finding : report.at("findings")) {
    std::ostringstream row;
    row << fs::relative(finding.at("file").get<std::string>(), folder).generic_string() << '\t'
        << finding.at("line") << '\t' << finding.at("rule").get<std::string>() << '\t'
        << finding.at("severity").get<std::string>();
    findings.emplace(row.str(), "");
  }
  return findings;
}

Findings approved() {
  Findings findings;
  std::ifstream file(kList);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t reason = line.rfind('\t');
    findings.emplace(line.substr(0, reason), line.substr(reason + 1));
  }
  return findings;
}

void approve(const Findings& findings, const Findings& reasons) {
  std::ofstream file(kList);
  file << "# file\tline\trule\tseverity\twhy it is an error\n";
  for (const auto& [row, unused] : findings) {
    const auto reason = reasons.find(row);
    file << row << '\t' << (reason == reasons.end() ? "" : reason->second) << '\n';
  }
}

}  // namespace

TEST_CASE("findings in files that people deploy are the approved ones", "[corpus]") {
  const fs::path folder = fs::weakly_canonical(test::shared_path("corpus/configs"));
  if (!test::shared_exists(folder)) return;
  const Findings findings = found_in(folder);
  Findings list = approved();
  if (std::getenv("KVB_APPROVE") != nullptr) {
    approve(findings, list);
    list = approved();
  }
  for (const auto& [row, unused] : findings) {
    INFO("new: " << row);
    CHECK(list.contains(row));
  }
  for (const auto& [row, reason] : list) {
    INFO("gone, or an error without a reason: " << row);
    CHECK(findings.contains(row));
    CHECK((!row.ends_with("\terror") || !reason.empty()));
  }
}
