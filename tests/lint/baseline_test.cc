// A baseline hides what is known, and nothing else.
#include "lint/baseline.h"

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

Rule rule_of(std::string_view id) {
  Rule rule;
  rule.id = id;
  return rule;
}

const Rule kFirst = rule_of("KVB103"), kSecond = rule_of("KVB401");
const Rule* const kRan[] = {&kFirst, &kSecond};

std::vector<Diagnostic> findings(
    std::initializer_list<std::pair<std::string_view, const char*>> all) {
  std::vector<Diagnostic> result;
  for (const auto& [rule, subject] : all) {
    result.emplace_back().rule = rule;
    result.back().subject = subject;
  }
  set_fingerprints(result, {});
  return result;
}

// Written and read again.
Baseline stored(const std::vector<Diagnostic>& known) {
  BaselineResult result = read_baseline(baseline_text(baseline_of(known, {})));
  CHECK(result.error == "");
  return result.baseline;
}

}  // namespace

TEST_CASE("what a baseline holds is hidden, what it does not hold is shown") {
  const Baseline baseline =
      stored(findings({{"KVB103", "max-model-len"}, {"KVB401", "swap-space"}}));
  auto now =
      findings({{"KVB401", "swap-space"}, {"KVB401", "device"}, {"KVB103", "max-model-len"}});
  const BaselineUse use = hide_known(baseline, kRan, now);
  CHECK(use.hidden == 2);
  CHECK(use.stale.empty());
  REQUIRE(now.size() == 1);
  CHECK(now[0].subject == "device");
}

TEST_CASE("of equal findings as many are hidden as the baseline counts") {
  const Baseline baseline = stored(findings({{"KVB401", "a"}, {"KVB401", "a"}}));
  auto fewer = findings({{"KVB401", "a"}});
  const BaselineUse gone = hide_known(baseline, kRan, fewer);
  CHECK(fewer.empty());
  CHECK(gone.stale == std::vector<std::string>{"KVB401 a"});
  auto more = findings({{"KVB401", "a"}, {"KVB401", "a"}, {"KVB401", "a"}});
  hide_known(baseline, kRan, more);
  REQUIRE(more.size() == 1);
  CHECK(more[0].fingerprint.ends_with(":3"));
}

TEST_CASE("entries that match nothing are stale, unless their rule did not run") {
  const Baseline baseline = stored(findings({{"KVB103", "x"}, {"KVB401", "a"}, {"KVB401", "a"}}));
  std::vector<Diagnostic> none;
  CHECK(hide_known(baseline, kRan, none).stale ==
        std::vector<std::string>{"KVB103 x", "KVB401 a x 2"});
  CHECK(hide_known(baseline, std::span(kRan).first(1), none).stale ==
        std::vector<std::string>{"KVB103 x"});
}

TEST_CASE("a baseline is JSON with a sorted line for each entry") {
  const std::string text = baseline_text(
      baseline_of(findings({{"KVB401", "b"}, {"KVB401", "a\xff"}, {"KVB401", "b"}}), {}));
  CHECK(text.starts_with("{\"schema\": 1, \"findings\": [\n{\"fingerprint\":\""));
  CHECK(text.find("\"subject\":\"a\xEF\xBF\xBD\",\"count\":1},\n") <
        text.find("\"subject\":\"b\",\"count\":2}\n]}\n"));
  CHECK(baseline_text({}) == "{\"schema\": 1, \"findings\": [\n]}\n");
  CHECK(read_baseline(baseline_text({})).error == "");
}

TEST_CASE("what is no baseline is refused with the reason") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "this is no baseline; --write-baseline writes one"},
      {"[]", "this is no baseline; --write-baseline writes one"},
      {"{\"findings\": []}", "this is no baseline; --write-baseline writes one"},
      {"{\"schema\": 1, \"findings\": {}}", "this is no baseline; --write-baseline writes one"},
      {"{\"schema\": 2, \"findings\": []}", "the schema is 2, expected 1"},
      {"{\"schema\": 1, \"findings\": [1]}", "findings[0]: expected an object"},
      {"{\"schema\": 1, \"findings\": [{}]}", "findings[0]: no fingerprint"},
      {"{\"schema\": 1, \"findings\": [{\"fingerprint\": \"a\", \"count\": 0}]}",
       "findings[0]: count must be a number above 0"},
      {"{\"schema\": 1, \"findings\": [{\"fingerprint\": \"a\", \"count\": -1}]}",
       "findings[0]: count must be a number above 0"},
  };
  for (const auto& [text, error] : cases) {
    CAPTURE(text);
    CHECK(read_baseline(text).error == error);
  }
}
