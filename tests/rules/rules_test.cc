// The contract that every rule keeps; a rule cannot be added without it.

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "rules/all_rules.h"
#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

std::string read_repository_file(const std::string& path) {
  std::ifstream stream(std::string(KVB_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the bad example of a rule gives exactly the findings it marks, under all rules") {
  for (const Rule* rule : all_rules()) {
    const test::LineRules wanted = test::expected(rule->bad);
    const test::LineRules got = test::found("bad.yaml", std::string(rule->bad));
    INFO(rule->id << " expects\n" << test::to_text(wanted) << "and gives\n" << test::to_text(got));
    CHECK(wanted == got);
    CHECK(std::any_of(wanted.begin(), wanted.end(),
                      [&](const auto& f) { return f.second == rule->id; }));
  }
}

TEST_CASE("the good example of a rule is silent under all rules") {
  for (const Rule* rule : all_rules()) {
    const test::LineRules got = test::found("good.yaml", std::string(rule->good));
    INFO(rule->id << " gives\n" << test::to_text(got));
    CHECK(got.empty());
  }
}

TEST_CASE("ids and names are unique, sorted and well formed") {
  std::set<std::string_view> names;
  std::string_view before;
  for (const Rule* rule : all_rules()) {
    INFO(rule->id);
    CHECK(rule->id.size() == 6);
    CHECK(rule->id.substr(0, 3) == "KVB");
    CHECK(before < rule->id);
    CHECK(names.insert(rule->name).second);
    CHECK(rule->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string_view::npos);
    const int checks = (rule->check_deployment != nullptr) + (rule->check_neighbours != nullptr) +
                       (rule->check_file != nullptr) + (rule->check_suppression != nullptr);
    CHECK(checks == 1);
    before = rule->id;
  }
}

TEST_CASE("every rule documents itself completely") {
  const std::string changelog = read_repository_file("CHANGELOG.md");
  for (const Rule* rule : all_rules()) {
    INFO(rule->id);
    CHECK(rule->summary.find('.') != rule->summary.size() - 1);
    CHECK_FALSE((rule->summary.front() >= 'A' && rule->summary.front() <= 'Z'));
    for (const char* heading : {"## What it does", "## Why it matters", "## How it is computed",
                                "## Fix", "## Since which engine version", "## References"}) {
      INFO(heading);
      CHECK(rule->doc.find(heading) != std::string_view::npos);
    }
    CHECK(changelog.find(rule->id) != std::string::npos);
  }
}
