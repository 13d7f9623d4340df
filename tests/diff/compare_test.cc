#include "lint/diff/compare.h"

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Change {
  SourceFile file{"a.yaml", "x"};
  ComparedSide base, head;

  Change() {
    base.deployments.push_back(sample_deployment(file));
    head.deployments.push_back(sample_deployment(file));
    base.folder = head.folder = ".";
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  memory::Estimate& after() { return *head.deployments.front().estimate; }
  Diagnostic& finding(ComparedSide& side) {
    Diagnostic& finding = side.findings.emplace_back(finding_at(file, "x"));
    finding.deployment = 0;
    return finding;
  }
  DiffReport report(std::optional<double> percent = std::nullopt) const {
    return compare(base, head, percent);
  }
};

std::string loss_of(const Change& change, double percent) {
  std::string text;
  for (const DeploymentChange& one : change.report(percent).changes) {
    for (const Loss& loss : one.losses) text += (text.empty() ? "" : ", ") + loss.what;
  }
  return text;
}

}  // namespace

TEST_CASE("what is the same on both sides is only counted") {
  Change change;
  change.finding(change.base);
  change.finding(change.head).message = "the same in other words";
  const DiffReport report = change.report();
  CHECK(report.empty());
  CHECK(report.unchanged == 1);
}

TEST_CASE("only figures that differ are listed, also when only their ends do") {
  Change change;
  change.after().best.tokens = 524288;
  change.after().terms[0].bytes.high += 1;
  const DiffReport report = change.report();
  REQUIRE(report.changes.size() == 1);
  REQUIRE(report.changes[0].figures.size() == 2);
  CHECK(report.changes[0].figures[0].figure->name == "tokens");
  CHECK(report.changes[0].figures[0].percent() == -50.0);
  CHECK(report.changes[0].figures[1].figure->name == "weights");
  CHECK(report.changes[0].figures[1].percent() == 0.0);
}

TEST_CASE("a fall is a loss when it is more than the limit; a rise never is") {
  Change change;
  change.after().best.tokens = change.after().best.tokens / 10 * 9;
  CHECK(loss_of(change, 5) == "KV tokens");
  CHECK(loss_of(change, 11) == "");
  std::swap(change.base, change.head);
  CHECK(loss_of(change, 5) == "");
}

TEST_CASE("memory that a term takes is no loss by itself") {
  Change change;
  change.after().terms[0].bytes.best /= 2;
  CHECK(loss_of(change, 0) == "");
}

TEST_CASE("a verdict that gets worse is a loss whatever the limit") {
  using memory::Verdict;
  Change change;
  change.after().verdict = Verdict::kUnsure;
  CHECK(loss_of(change, 100) == "verdict");
  change.after().verdict = Verdict::kRefuses;
  CHECK(loss_of(change, 100) == "verdict");
  change.base.deployments[0].estimate->verdict = Verdict::kOutOfMemory;
  CHECK(loss_of(change, 100) == "");
}

TEST_CASE("what cannot be judged any more is a loss, what can be judged now is none") {
  Change change;
  change.head.deployments[0].estimate.reset();
  change.head.deployments[0].missing.push_back({"gpu", "the file names no GPU type", "pass --gpu"});
  CHECK(loss_of(change, 100) == "verdict");
  std::swap(change.base, change.head);
  CHECK(loss_of(change, 0) == "");
  change.head.deployments.clear();
  CHECK(loss_of(change, 0) == "");
}

TEST_CASE("a finding is new or gone by its rule, its subject and its severity") {
  Change change;
  change.finding(change.base).severity = Severity::kWarning;
  change.finding(change.head).severity = Severity::kError;
  DiffReport report = change.report();
  CHECK(report.count_new() == 1);
  CHECK(report.count_gone() == 1);
  change.base.findings[0].severity = Severity::kError;
  change.finding(change.head).subject = "max-num-seqs";
  report = change.report();
  REQUIRE(report.count_new() == 1);
  CHECK(report.changes[0].new_findings[0] == &change.head.findings[1]);
  CHECK(report.count_gone() == 0);
}

TEST_CASE("a finding said twice where it was said once is new once") {
  Change change;
  change.finding(change.base);
  change.finding(change.head);
  change.finding(change.head);
  CHECK(change.report().count_new() == 1);
}

TEST_CASE("the settings that differ are named, secrets without their value") {
  Change change;
  Setting key;
  key.value = "s3cret";
  change.head.deployments[0].settings.set("api-key", key);
  change.head.deployments[0].model = "org/other";
  change.after().best.tokens = 1;
  const DiffReport report = change.report();
  REQUIRE(report.changes.size() == 1);
  const std::vector<SettingChange>& settings = report.changes[0].settings;
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].name == "api-key");
  CHECK_FALSE(settings[0].base.has_value());
  CHECK(settings[0].head == "(hidden)");
  CHECK(settings[1].name == "model");
  CHECK(settings[1].head == "org/other");
}
