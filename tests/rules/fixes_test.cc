// What fixes promise: the finding is gone, the file still reads, nothing else changes.

#include <algorithm>
#include <string>
#include <vector>

#include "lint/engine/version.h"
#include "lint/fix.h"
#include "lint/release_flags.h"
#include "rules/all_rules.h"
#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

const std::string kPath = "bad.yaml";

std::string line_of(const Diagnostic& finding) {
  return std::string(finding.rule) + " " + finding.message;
}

std::vector<std::string> lines_of(const std::vector<Diagnostic>& findings) {
  std::vector<std::string> lines;
  for (const Diagnostic& finding : findings) lines.push_back(line_of(finding));
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text.empty() ? "nothing\n" : text;
}

std::string fixed_text(const std::vector<Diagnostic>& findings, FixLevel level) {
  const FixedFiles fixed = apply_fixes(findings, level);
  return fixed.texts.empty() ? "" : fixed.texts.at(kPath);
}

std::string in_release(std::string text, const std::string& version) {
  for (const std::string mark : {"vllm/vllm-openai:v", "vllm@"}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      at += mark.size();
      const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
      text.replace(at, end - at, version);
    }
  }
  return text;
}

std::ptrdiff_t unknown_flags(const std::string& text) {
  const std::vector<Diagnostic> findings = test::lint_text(kPath, text).findings;
  return std::count_if(findings.begin(), findings.end(),
                       [](const Diagnostic& finding) { return finding.rule == "KVB401"; });
}

}  // namespace

TEST_CASE("a safe fix takes its finding away and leaves all others as they are") {
  for (const Rule* rule : all_rules()) {
    const test::Linted before = test::lint_text(kPath, std::string(rule->bad));
    for (const Diagnostic& finding : before.findings) {
      if (finding.rule != rule->id || !finding.fix || !finding.fix->safe) continue;
      const std::string text = fixed_text({finding}, FixLevel::kSafe);
      REQUIRE_FALSE(text.empty());
      std::vector<std::string> wanted = lines_of(before.findings);
      wanted.erase(std::find(wanted.begin(), wanted.end(), line_of(finding)));
      const std::vector<std::string> got = lines_of(test::lint_text(kPath, text).findings);
      INFO(line_of(finding) << "\nbecomes\n" << text << "with\n" << text_of(got));
      CHECK(got == wanted);
    }
  }
}

TEST_CASE("an unsafe fix takes its finding away and the file still reads") {
  for (const Rule* rule : all_rules()) {
    const test::Linted before = test::lint_text(kPath, std::string(rule->bad));
    for (const Diagnostic& finding : before.findings) {
      if (finding.rule != rule->id || !finding.fix || finding.fix->safe) continue;
      const std::string text = fixed_text({finding}, FixLevel::kAll);
      REQUIRE_FALSE(text.empty());
      const std::vector<std::string> got = lines_of(test::lint_text(kPath, text).findings);
      INFO(line_of(finding) << "\nbecomes\n" << text << "with\n" << text_of(got));
      CHECK(std::find(got.begin(), got.end(), line_of(finding)) == got.end());
      CHECK(std::none_of(got.begin(), got.end(),
                         [](const std::string& line) { return line.starts_with("KVB000"); }));
    }
  }
}

TEST_CASE("what is proposed to an old release are flags of that release") {
  size_t fixes = 0;
  for (const char* version : {"0.6.6", "0.8.5", "0.10.2", "0.11.0", "0.13.0"}) {
    for (const Rule* rule : all_rules()) {
      const std::string text = in_release(std::string(rule->bad), version);
      for (const Diagnostic& finding : test::lint_text(kPath, text).findings) {
        INFO(line_of(finding) << " in " << version << "\n" << text);
        const Version release = *parse_version(version);
        for (const Note& note : finding.notes) {
          CHECK_FALSE(names_flag_of_other_release(note.message, release));
        }
        if (!finding.fix) continue;
        ++fixes;
        const std::string fixed = fixed_text({finding}, FixLevel::kAll);
        if (!fixed.empty()) CHECK(unknown_flags(fixed) <= unknown_flags(text));
      }
    }
  }
  CHECK(fixes > 100);
}

TEST_CASE("fixing a second time changes nothing") {
  for (const Rule* rule : all_rules()) {
    std::string text(rule->bad);
    for (int round = 0; round < 2; ++round) {
      const test::Linted linted = test::lint_text(kPath, text);
      const std::string next = fixed_text(linted.findings, FixLevel::kSafe);
      INFO(rule->id << " in round " << round << " gives\n" << next);
      if (round == 1) CHECK(next.empty());
      if (!next.empty()) text = next;
    }
  }
}
