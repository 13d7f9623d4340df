#include <sstream>

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string text_of(const Report& report, bool colour = false) {
  std::ostringstream out;
  write_text(report, {colour, false, false}, out);
  return out.str();
}

}  // namespace

TEST_CASE("a report without findings prints nothing") {
  Report report;
  report.files = 3;
  CHECK(text_of(report).empty());
}

TEST_CASE("a finding shows place, message, rule, line, notes and fix") {
  const SourceFile file("a.yaml", "a: 1\nlen: 8192\n");
  Report report;
  Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
  finding.notes.push_back({"15.00 GiB are left", {}});
  finding.notes.push_back({"set here", place(file, "a")});
  finding.fix.emplace().description = "lower it to 4096";
  finding.fix->edits.push_back({place(file, "8192"), "4096"});
  CHECK(text_of(report) ==
        "a.yaml:2:6: error: max-model-len 8192 needs 16.00 GiB [KVB103]\n"
        "len: 8192\n"
        "     ^~~~\n"
        "     4096\n"
        "  note: 15.00 GiB are left\n"
        "  a.yaml:1:1: note: set here\n"
        "  fix: lower it to 4096 (changes what the service does)\n"
        "1 error in 1 file\n");
}

TEST_CASE("the summary counts severities and the files that have findings") {
  const SourceFile a("a.yaml", "x"), b("b.yaml", "x");
  Report report;
  for (const Severity severity : {Severity::kError, Severity::kError, Severity::kWarning}) {
    report.findings.push_back(finding_at(a, "x"));
    report.findings.back().severity = severity;
  }
  report.findings.back().where = place(b, "x");
  CHECK(text_of(report).ends_with("\n2 errors, 1 warning in 2 files\n"));
}

TEST_CASE("a finding about no file has no place") {
  Report report;
  Diagnostic& finding = report.findings.emplace_back();
  finding.rule = "KVB001";
  finding.severity = Severity::kInfo;
  finding.message = "not checked";
  CHECK(text_of(report).starts_with("info: not checked [KVB001]\n"));
}

TEST_CASE("escapes are written only where colour was asked for") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  CHECK(text_of(report).find('\033') == std::string::npos);
  CHECK(text_of(report, true).find("\033[1;31merror: ") != std::string::npos);
}

TEST_CASE("what a baseline hides and what it holds in vain is said below the findings") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  report.baselined = 4;
  report.stale_baseline = {"KVB401 compose service chat swap-space"};
  const std::string stale =
      "baseline: no longer found: KVB401 compose service chat swap-space\n"
      "baseline: 1 entry is stale; write it anew with --write-baseline\n";
  CHECK(text_of(report) == stale);
  report.findings.push_back(finding_at(file, "8192"));
  CHECK(text_of(report).ends_with("\n" + stale + "1 error in 1 file; 4 more in the baseline\n"));
  std::ostringstream quiet;
  write_text(report, {false, true, false}, quiet);
  CHECK(quiet.str().ends_with("     ^~~~\n"));
}

TEST_CASE("statistics count the findings of each rule, most first") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  for (const char* rule : {"KVB401", "KVB103", "KVB410", "KVB103"}) {
    report.findings.push_back(finding_at(file, "8192"));
    report.findings.back().rule = rule;
  }
  std::ostringstream out;
  write_text(report, {false, true, true}, out);
  const std::string name = "  max-model-len-exceeds-kv\n";
  CHECK(out.str().ends_with("     2  KVB103" + name + "     1  KVB401" + name + "     1  KVB410" +
                            name));
}
