// JUnit XML as Jenkins and GitLab read it: a suite for each file, a test for each finding and for
// each engine start without one.
//
// A test fails when its finding is one that --fail-on counts, so that the report and the exit code
// agree; an engine that could not be judged is a skipped test. There is no standard; elements and
// attributes are those of Jenkins' junit-10.xsd.
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/fingerprint.h"
#include "lint/report/details.h"
#include "lint/report/markup.h"
#include "lint/report/report.h"

namespace kvbudget {

namespace {

enum class Outcome { kPassed, kFailed, kSkipped };

struct TestCase {
  std::string name;
  Outcome outcome = Outcome::kPassed;
  const Diagnostic* finding = nullptr;  ///< null: an engine start without one
};

struct Suite {
  std::string path;
  std::vector<TestCase> tests;
  std::set<std::string> names;
  std::map<std::string, int> seen;  ///< tests that asked for a name

  size_t count(Outcome outcome) const {
    size_t result = 0;
    for (const TestCase& test : tests) result += test.outcome == outcome ? 1 : 0;
    return result;
  }
};

Outcome outcome_of(const Diagnostic& finding, Severity fail_on) {
  if (finding.severity >= fail_on) return Outcome::kFailed;
  return finding.rule == kNotCheckedRule ? Outcome::kSkipped : Outcome::kPassed;
}

// Services compare the tests of two runs by name: it says what the fingerprint says.
std::string test_name(const Diagnostic& finding, const Report& report) {
  std::string name = rule_title(finding);
  const FindingIdentity identity = identity_of(finding, report.deployments);
  if (identity.deployment.empty()) return name;
  name += ": " + identity.deployment;
  return identity.subject.empty() ? name : name + " " + identity.subject;
}

void add(Suite& suite, TestCase test) {
  int& count = suite.seen[test.name];
  std::string name;
  do {
    ++count;
    name = test.name + (count == 1 ? "" : " #" + std::to_string(count));
  } while (!suite.names.insert(name).second);
  test.name = std::move(name);
  suite.tests.push_back(std::move(test));
}

std::string path_of(const Location& where, const Report& report) {
  return where ? path_below_root(report.folders, where.file->path()) : "command line";
}

std::vector<Suite> suites_of(const Report& report) {
  std::map<std::string, Suite> by_path;
  std::set<int> with_finding;
  for (const Diagnostic& finding : report.findings) {
    const std::string path = path_of(report.place_of(finding), report);
    add(by_path[path], {test_name(finding, report), outcome_of(finding, report.fail_on), &finding});
    with_finding.insert(finding.deployment);
  }
  for (size_t i = 0; i < report.deployments.size(); ++i) {
    const EngineStart& start = report.deployments[i].start;
    if (with_finding.count(static_cast<int>(i)) > 0) continue;
    add(by_path[path_of(start.where, report)], {start.kind + " " + start.name, Outcome::kPassed});
  }
  std::vector<Suite> result;
  for (auto& [path, suite] : by_path) {
    suite.path = path;
    result.push_back(std::move(suite));
  }
  return result;
}

std::string place_text(const Diagnostic& finding) {
  if (!finding.where) return "";
  const Position at = finding.where.file->position(finding.where.range.begin);
  return finding.where.file->path() + ':' + std::to_string(at.line) + ':' +
         std::to_string(at.column) + ": ";
}

void write_result(const TestCase& test, std::ostream& out) {
  const Diagnostic& finding = *test.finding;
  const std::string message = escaped(finding.message);
  const std::string text =
      escaped(place_text(finding) + message_with_notes(finding, NotesShown::kAll));
  switch (test.outcome) {
    case Outcome::kFailed:
      out << "      <failure type=\"" << severity_name(finding.severity) << "\" message=\""
          << message << "\">" << text << "</failure>\n";
      break;
    case Outcome::kSkipped:
      out << "      <skipped message=\"" << message << "\"/>\n";
      break;
    case Outcome::kPassed:
      out << "      <system-out>" << severity_name(finding.severity) << ": " << text
          << "</system-out>\n";
      break;
  }
}

void write_suite(const Suite& suite, std::ostream& out) {
  const std::string path = escaped(suite.path);
  out << "  <testsuite name=\"" << path << "\" tests=\"" << suite.tests.size() << "\" failures=\""
      << suite.count(Outcome::kFailed) << "\" errors=\"0\" skipped=\""
      << suite.count(Outcome::kSkipped) << "\">\n";
  for (const TestCase& test : suite.tests) {
    out << "    <testcase name=\"" << escaped(test.name) << "\" classname=\"" << path << '"';
    if (test.finding == nullptr) {
      out << "/>\n";
      continue;
    }
    out << ">\n";
    write_result(test, out);
    out << "    </testcase>\n";
  }
  out << "  </testsuite>\n";
}

}  // namespace

void write_junit(const Report& report, std::ostream& out) {
  const std::vector<Suite> suites = suites_of(report);
  size_t tests = 0;
  size_t failures = 0;
  for (const Suite& suite : suites) {
    tests += suite.tests.size();
    failures += suite.count(Outcome::kFailed);
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvbudget\" tests=\""
      << tests << "\" failures=\"" << failures << "\" errors=\"0\">\n";
  for (const Suite& suite : suites) write_suite(suite, out);
  out << "</testsuites>\n";
}

}  // namespace kvbudget
