#include "lint/fix.h"

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

const SourceFile kFile("a.yaml", "one two three\n");

Diagnostic finding(uint32_t begin, uint32_t end, const std::string& text, bool safe) {
  Diagnostic result;
  result.fix = Fix{safe, "", {{{&kFile, {begin, end}}, text}}};
  return result;
}

}  // namespace

TEST_CASE("fixes change their own bytes and nothing else") {
  const FixedFiles fixed =
      apply_fixes({finding(8, 13, "3", true), finding(0, 3, "1", true)}, FixLevel::kSafe);
  CHECK(fixed.applied == 2);
  CHECK(fixed.texts.at("a.yaml") == "1 two 3\n");
}

TEST_CASE("fixes that change the service are applied only when asked for") {
  CHECK(apply_fixes({finding(0, 3, "1", false)}, FixLevel::kSafe).texts.empty());
  CHECK(apply_fixes({finding(0, 3, "1", false)}, FixLevel::kAll).applied == 1);
  CHECK(apply_fixes({finding(0, 3, "1", true)}, FixLevel::kNone).texts.empty());
}

TEST_CASE("a fix that changes no byte is not applied") {
  const FixedFiles fixed = apply_fixes({finding(4, 7, "two", true)}, FixLevel::kSafe);
  CHECK(fixed.applied == 0);
  CHECK(fixed.texts.empty());
}

TEST_CASE("of fixes for the same bytes the first is applied, and equal ones once") {
  const FixedFiles fixed =
      apply_fixes({finding(0, 7, "x", true), finding(4, 7, "2", true), finding(0, 7, "x", true)},
                  FixLevel::kSafe);
  CHECK(fixed.applied == 2);
  CHECK(fixed.texts.at("a.yaml") == "x three\n");
}
