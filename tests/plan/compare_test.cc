#include "lint/plan/compare.h"

#include "tests/support/catch.h"

using namespace kvbudget;
using namespace kvbudget::plan;

namespace {

std::string text_of(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& d : differences) {
    text += d.field + ": " + d.before + " -> " + d.now + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a plan is compared field by field, lists of named things by name") {
  const Json before = Json::parse(R"({
    "num_blocks": 10, "old": true, "flags": ["--a=1", "--b=2"],
    "terms": [{"name": "weights", "bytes": 5}, {"name": "activation", "bytes": 7}]})");
  const Json now = Json::parse(R"({
    "num_blocks": 12, "new": "x", "flags": ["--a=1", "--b=3", "--c"],
    "terms": [{"name": "activation", "bytes": 7}, {"name": "weights", "bytes": 6}]})");
  CHECK(text_of(compare_plans(before, now)) ==
        "num_blocks: 10 -> 12\n"
        "new: absent -> \"x\"\n"
        "flags.1: \"--b=2\" -> \"--b=3\"\n"
        "flags.2: absent -> \"--c\"\n"
        "terms.weights.bytes: 5 -> 6\n"
        "old: true -> absent\n");
  CHECK(compare_plans(now, now).empty());
}

TEST_CASE("values of other types differ") {
  CHECK(text_of(compare_plans(Json::parse(R"({"flags": 1, "engine": []})"),
                              Json::parse(R"({"flags": ["x"], "engine": {"name": "vllm"}})"))) ==
        "flags: 1 -> [\"x\"]\nengine: [] -> {\"name\":\"vllm\"}\n");
}
