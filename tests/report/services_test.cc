// The formats of GitHub's and GitLab's pipelines, and JUnit's XML.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "lint/report/utf8.h"
#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using Json = nlohmann::ordered_json;

namespace {

std::string written(void (*write)(const Report&, std::ostream&), const Report& report) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a GitHub annotation names the place and the rule, with notes below the message") {
  const SourceFile file("a.yaml", "a: 1\nlen: 8192\n");
  Report report;
  Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
  finding.notes.push_back({"100 % of it", {}});
  finding.notes.push_back({"set here", place(file, "a")});
  finding.fix.emplace().description = "lower it";
  CHECK(written(write_github, report) ==
        "::error file=a.yaml,line=2,col=6,endLine=2,endColumn=10,title=KVB103 "
        "max-model-len-exceeds-kv::max-model-len 8192 needs 16.00 GiB%0A100 %25 of it%0Aa.yaml:1: "
        "set here%0Afix: lower it (changes what the service does)\n");
}

TEST_CASE("nothing in a path or message ends a GitHub annotation early") {
  const SourceFile file("a,b:c%\r\n\xff.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].severity = Severity::kInfo;
  report.findings[0].message = "50 %\r\n::error::x\x1b[0m\xc3";
  const std::string text = written(write_github, report);
  CHECK(text ==
        "::notice file=a%2Cb%3Ac%25%0D%0A\xEF\xBF\xBD.yaml,line=1,col=6,endLine=1,endColumn=10,"
        "title=KVB103 max-model-len-exceeds-kv::50 %25%0D%0A::error::x?[0m\xEF\xBF\xBD\n");
}

TEST_CASE("a GitHub annotation of several lines has no columns, one of no file no place") {
  const SourceFile file("a.yaml", "len:\n 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "len:\n 8192"));
  report.findings.emplace_back().rule = "KVB001";
  report.findings.back().severity = Severity::kWarning;
  const std::string text = written(write_github, report);
  CHECK(contains(text, "::error file=a.yaml,line=1,endLine=2,title="));
  CHECK(contains(text, "\n::warning title=KVB001 ::\n"));
}

TEST_CASE("GitLab gets path, lines, severity and fingerprint") {
  const SourceFile file("./my deploy/a\xff.yaml", "a: 1\nlen: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].fingerprint = "abc:2";
  CHECK(Json::parse(written(write_gitlab, report)) == Json::parse(R"([{
    "type": "issue", "description": "max-model-len 8192 needs 16.00 GiB",
    "check_name": "KVB103 max-model-len-exceeds-kv", "categories": ["Bug Risk"], "fingerprint": "abc:2",
    "severity": "critical",
    "location": {"path": "my deploy/a\uFFFD.yaml", "lines": {"begin": 2, "end": 2}}}])"));
}

TEST_CASE("without findings GitLab gets an empty list") {
  CHECK(written(write_gitlab, {}) == "[]\n");
}

TEST_CASE("JUnit has a suite for each file and a test for each finding and clean engine") {
  const SourceFile a("a.yaml", "len: 8192\n"), b("b.yaml", "x");
  Report report;
  report.deployments = {sample_deployment(a), sample_deployment(b)};
  for (const Severity severity : {Severity::kError, Severity::kError, Severity::kWarning}) {
    Diagnostic& finding = report.findings.emplace_back(finding_at(a, "8192"));
    finding.severity = severity;
    finding.deployment = 0;
    finding.subject = "max-model-len";
  }
  report.findings.back().message = "careful";
  CHECK(written(write_junit, report) ==
        R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="kvbudget" tests="4" failures="2" errors="0">
  <testsuite name="a.yaml" tests="3" failures="2" errors="0" skipped="0">
    <testcase name="KVB103 max-model-len-exceeds-kv: compose service chat max-model-len" classname="a.yaml">
      <failure type="error" message="max-model-len 8192 needs 16.00 GiB">a.yaml:1:6: max-model-len 8192 needs 16.00 GiB</failure>
    </testcase>
    <testcase name="KVB103 max-model-len-exceeds-kv: compose service chat max-model-len #2" classname="a.yaml">
      <failure type="error" message="max-model-len 8192 needs 16.00 GiB">a.yaml:1:6: max-model-len 8192 needs 16.00 GiB</failure>
    </testcase>
    <testcase name="KVB103 max-model-len-exceeds-kv: compose service chat max-model-len #3" classname="a.yaml">
      <system-out>warning: a.yaml:1:6: careful</system-out>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="compose service chat" classname="b.yaml"/>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("a JUnit test fails exactly when the exit code counts its finding") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].severity = Severity::kWarning;
  CHECK_FALSE(contains(written(write_junit, report), "<failure"));
  report.fail_on = Severity::kWarning;
  CHECK(contains(written(write_junit, report), "<failure type=\"warning\""));
  report.findings[0].rule = kNotCheckedRule;
  report.findings[0].severity = Severity::kInfo;
  CHECK(contains(written(write_junit, report), "<skipped message="));
}

TEST_CASE("JUnit's XML takes any bytes") {
  const SourceFile file("a<&\">\n.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].message = std::string("\0\x1b ]]> \xff \xEF\xBF\xBF \tend", 17);
  const std::string text = written(write_junit, report);
  CHECK(contains(text, "<testsuite name=\"a&lt;&amp;&quot;&gt;&#10;.yaml\""));
  const std::string fffd = "\xEF\xBF\xBD";
  CHECK(contains(text, "message=\"" + fffd + fffd + " ]]&gt; " + fffd + " " + fffd + " &#9;end\""));
}

TEST_CASE("no bytes at all break a format") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 256);
    const SourceFile file(bytes, bytes);
    Report report;
    Diagnostic& finding = report.findings.emplace_back();
    finding.rule = "KVB103";
    finding.where = {&file, {3, 30}};
    finding.message = bytes;
    finding.notes = {{bytes, {}}, {bytes, {&file, {0, 40}}}};
    finding.fix = Fix{false, bytes, {{{&file, {5, 9}}, bytes}}};
    CHECK(Json::accept(written(write_sarif, report)));
    CHECK(Json::accept(written(write_gitlab, report)));
    const std::string github = written(write_github, report);
    CHECK(github.find('\n') == github.size() - 1);
    const std::string junit = written(write_junit, report);
    CHECK(valid_utf8(junit) == junit);
    const bool has_control = std::any_of(junit.begin(), junit.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n';
    });
    CHECK_FALSE(has_control);
  }
}
