#include "lint/engine/nearest.h"

#include <string>

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("the nearest word is the one a typo was meant to be") {
  const std::vector<std::string_view> known{"lint", "inspect", "estimate", "rules"};
  CHECK(nearest("lnit", known) == "lint");
  CHECK(nearest("Estimat", known) == "estimate");
  CHECK(nearest("insepct", known) == "inspect");
  CHECK(nearest("banana", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("", known).empty());
}

TEST_CASE("the hint names the nearest word or says where to look") {
  CHECK(did_you_mean("jsn", {"text", "json"}, "expected text") == "; did you mean 'json'?");
  CHECK(did_you_mean("sarif", {"text", "json"}, "expected text") == "; expected text");
}

TEST_CASE("a word that no name is as long as has no neighbour") {
  CHECK(nearest(std::string(1'000'000, 'x'), {"x", "L4"}).empty());
}
