// What other tests do not see: the validators of tests/formats read whole reports, these look at
// single values.
#include <nlohmann/json.hpp>
#include <sstream>

#include "lint/report/details.h"
#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using Json = nlohmann::ordered_json;

namespace {

Json sarif_of(const Report& report) {
  std::ostringstream out;
  write_sarif(report, out);
  return Json::parse(out.str());
}

Json run_of(const Report& report) { return sarif_of(report)["runs"][0]; }

}  // namespace

TEST_CASE("a run names its rules, with documentation and the severity they have by default") {
  Rule rule;
  rule.id = "KVB103";
  rule.name = "max-model-len-exceeds-kv";
  rule.severity = Severity::kInfo;
  rule.summary = "the cache is too small";
  rule.doc = "\n## What it does\nCompares two\nnumbers.\n\n## Why it matters\nIt does.\n";
  Report report;
  report.rules = {&rule};
  const Json driver = run_of(report)["tool"]["driver"];
  CHECK(driver["name"] == "kvbudget");
  const Json json = driver["rules"][0];
  CHECK(json["id"] == "KVB103");
  CHECK(json["shortDescription"]["text"] == "the cache is too small");
  CHECK(json["fullDescription"]["text"] == "Compares two numbers.");
  CHECK(json["help"]["markdown"].get<std::string>().starts_with("# KVB103 "));
  CHECK(json["helpUri"].get<std::string>().ends_with("#kvb103-max-model-len-exceeds-kv"));
  CHECK(json["defaultConfiguration"]["level"] == "note");
}

TEST_CASE("a result has level, place, related places, fix and fingerprint") {
  const SourceFile file("deploy/my chat.yaml", "a: 1\nlen: 8192\n");
  Rule other, rule;
  other.id = "KVB000";
  rule.id = "KVB103";
  Report report;
  report.rules = {&other, &rule};
  Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
  finding.notes.push_back({"15.00 GiB are left", {}});
  finding.notes.push_back({"set here", place(file, "a")});
  finding.fix.emplace().description = "lower it";
  finding.fix->edits.push_back({place(file, "8192"), "4096"});
  finding.fingerprint = "abc:1";
  const Json expected = Json::parse(R"json({
    "ruleId": "KVB103", "ruleIndex": 1, "level": "error",
    "message": {"text": "max-model-len 8192 needs 16.00 GiB\n15.00 GiB are left"},
    "locations": [{"physicalLocation": {
      "artifactLocation": {"uri": "deploy/my%20chat.yaml"},
      "region": {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 10}}}],
    "relatedLocations": [{"id": 0, "message": {"text": "set here"}, "physicalLocation": {
      "artifactLocation": {"uri": "deploy/my%20chat.yaml"},
      "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}}}],
    "partialFingerprints": {"kvbudget/v1": "abc:1"},
    "fixes": [{"description": {"text": "lower it (changes what the service does)"},
      "artifactChanges": [{
        "artifactLocation": {"uri": "deploy/my%20chat.yaml"},
        "replacements": [{
          "deletedRegion": {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 10},
          "insertedContent": {"text": "4096"}}]}]}]})json");
  CHECK(run_of(report)["results"][0] == expected);
}

TEST_CASE("columns are code points, also behind characters outside the basic plane") {
  const SourceFile file("a.yaml", "name: \U0001F600ß len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  const Json run = run_of(report);
  CHECK(run["columnKind"] == "unicodeCodePoints");
  const Json region = run["results"][0]["locations"][0]["physicalLocation"]["region"];
  CHECK(region["startColumn"] == 15);
  CHECK(region["endColumn"] == 19);
}

TEST_CASE("a finding without a place is shown where its engine starts") {
  const SourceFile file("a.yaml", "x: 1\n");
  Report report;
  report.deployments.push_back(sample_deployment(file));
  Diagnostic& finding = report.findings.emplace_back();
  finding.rule = "KVB001";
  finding.deployment = 0;
  report.findings.emplace_back().rule = "KVB001";
  const Json results = run_of(report)["results"];
  CHECK(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.yaml");
  CHECK(results[1]["locations"].empty());
}

TEST_CASE("a fix of something that stands in no file is left out whole") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
  finding.fix.emplace().edits = {{place(file, "8192"), "4096"}, {{}, "x"}};
  CHECK_FALSE(run_of(report)["results"][0].contains("fixes"));
}

TEST_CASE("more results than code scanning takes are cut, the least severe first") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  for (size_t i = 0; i < 25010; ++i) {
    Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
    finding.severity = i % 2500 == 1 ? Severity::kInfo : Severity::kWarning;
    finding.message = std::to_string(i);
  }
  report.findings.back().severity = Severity::kError;
  const Json run = run_of(report);
  const Json& results = run["results"];
  REQUIRE(results.size() == 25000);
  CHECK(results.back()["level"] == "error");
  CHECK(results[0]["message"]["text"] == "0");
  CHECK(results[1]["message"]["text"] == "1");  // one of eleven infos: the first is kept
  CHECK(results[2500]["message"]["text"] == "2500");
  CHECK(results[2501]["message"]["text"] == "2502");
  const Json notification = run["invocations"][0]["toolExecutionNotifications"][0];
  CHECK(notification["message"]["text"].get<std::string>().starts_with(
      "25,000 of 25,010 findings are shown"));
}

TEST_CASE("endless messages do not make a file that is too big to upload") {
  const SourceFile file("a.yaml", "len: 8192\n");
  Report report;
  for (int i = 0; i < 20000; ++i) {
    report.findings.push_back(finding_at(file, "8192"));
    report.findings.back().message = std::string(6000, static_cast<char>('a' + i % 26));
  }
  const Json run = run_of(report);
  CHECK(run["results"][0]["message"]["text"].get<std::string>().size() < 4200);
  CHECK(run["results"].size() < 16384);
  CHECK(run["results"].size() > 10000);
  CHECK(run["invocations"][0].contains("toolExecutionNotifications"));
}

TEST_CASE("a run that could not read every file says so") {
  Report report;
  CHECK(run_of(report)["invocations"][0]["executionSuccessful"] == true);
  report.complete = false;
  CHECK(run_of(report)["invocations"][0]["executionSuccessful"] == false);
}

TEST_CASE("bytes that are no UTF-8 do not break the SARIF") {
  const SourceFile file("a\xff.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].message = "value \xc3\x28 \x01";
  report.findings[0].fix.emplace().edits.push_back({place(file, "8192"), "\xfe"});
  const Json result = run_of(report)["results"][0];
  CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%FF.yaml");
}
