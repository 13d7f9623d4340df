#include "lint/suppress.h"

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

// Whether a finding of KVB103 (max-model-len-exceeds-kv) at the first `needle` survives.
bool survives(const std::string& text, std::string_view needle) {
  const SourceFile file("a.yaml", text);
  const auto at = static_cast<uint32_t>(text.find(needle));
  Diagnostic finding;
  finding.rule = "KVB103";
  finding.name = "max-model-len-exceeds-kv";
  finding.where = {&file, {at, at + 1}};
  std::vector<Diagnostic> findings{finding};
  std::vector<Suppression> suppressions = read_suppressions(file);
  suppress(findings, suppressions);
  return !findings.empty();
}

}  // namespace

TEST_CASE("a comment silences a finding on its line or on the next") {
  CHECK(survives("a: X\n", "X"));
  CHECK_FALSE(survives("a: X  # kvbudget: ignore KVB103 -- measured\n", "X"));
  CHECK_FALSE(survives("# kvbudget: ignore KVB103 -- measured\na: X\n", "X"));
  CHECK_FALSE(survives("  #kvbudget: ignore KVB103\na: X\n", "X"));
  CHECK_FALSE(survives("# kvbudget: ignore KVB103\r\na: X\r\n", "X"));
}

TEST_CASE("a comment reaches no further than its line") {
  CHECK(survives("b: 1  # kvbudget: ignore KVB103\na: X\n", "X"));
  CHECK(survives("# kvbudget: ignore KVB103\nb: 1\na: X\n", "X"));
  CHECK(survives("a: X\n# kvbudget: ignore KVB103\n", "X"));
}

TEST_CASE("a comment silences only the rules it names") {
  CHECK(survives("a: X  # kvbudget: ignore KVB104\n", "X"));
  CHECK(survives("a: X  # kvbudget: ignore\n", "X"));
  CHECK(survives("a: X  # kvbudget: ignore KVB104 -- not KVB103\n", "X"));
  CHECK_FALSE(survives("a: X  # kvbudget: ignore KVB104, KVB103\n", "X"));
  CHECK_FALSE(survives("a: X  # kvbudget: ignore max-model-len-exceeds-kv -- why\n", "X"));
}

TEST_CASE("comments can be stacked") {
  CHECK_FALSE(survives("# kvbudget: ignore KVB103\n# kvbudget: ignore KVB104\na: X\n", "X"));
  CHECK_FALSE(survives("# kvbudget: ignore KVB103\n# because we measured\na: X\n", "X"));
}

TEST_CASE("a comment above a command covers the lines that backslashes join to it") {
  const std::string script =
      "# kvbudget: ignore KVB103 -- measured\nvllm serve m \\\n  --max-model-len X\necho Y\n";
  CHECK_FALSE(survives(script, "X"));
  CHECK(survives(script, "Y"));
}

TEST_CASE("the marker counts only in a comment") {
  CHECK(survives("a: X kvbudget: ignore KVB103\n", "X"));
  CHECK(survives("a: X  # see kvbudget: ignore KVB103\n", "X"));
}

TEST_CASE("an annotation silences rules for its deployment, each with its reason") {
  const SourceFile file("a.yaml", "KVB103: measured; max-model-len-exceeds-kv: x\nKVB104");
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  std::vector<Suppression> found = read_annotation(text, 3);
  REQUIRE(found.size() == 3);
  CHECK(found[0].rule == "KVB103");
  CHECK(found[0].has_reason);
  CHECK(found[1].rule == "max-model-len-exceeds-kv");
  CHECK(found[2].rule == "KVB104");
  CHECK_FALSE(found[2].has_reason);
  CHECK(file.bytes().substr(found[2].where.range.begin, 6) == "KVB104");

  Diagnostic mine;
  mine.rule = "KVB104";
  mine.deployment = 3;
  Diagnostic other = mine;
  other.deployment = 2;
  std::vector<Diagnostic> findings{mine, other};
  suppress(findings, found);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].deployment == 2);
  CHECK(found[2].used);
  CHECK_FALSE(found[0].used);
}
