#include "lint/models/sizes.h"

#include "tests/support/catch.h"

using namespace kvbudget::models;

namespace {

struct Case {
  const char* formula;
  double value;
};

}  // namespace

TEST_CASE("formulas over sizes follow the usual rules of arithmetic") {
  Sizes sizes;
  sizes.set('h', 12);
  sizes.set('f', -2);
  sizes.set('n', 24);
  for (const Case& c :
       {Case{"3*h+1", 37}, Case{"3*(h+1)", 39}, Case{"h-2-1", 9}, Case{"h/0.5/0.5", 48},
        Case{"[h/5]*5", 10}, Case{"-f", 2}, Case{"f<0?n+f+1:f", 23}, Case{"h<0?1:h>11?2:3", 2},
        Case{"(h=12)*7", 7}, Case{"h=12.5", 0}}) {
    INFO(c.formula);
    REQUIRE(sizes.evaluate(c.formula).has_value());
    CHECK(*sizes.evaluate(c.formula) == c.value);
  }
}

TEST_CASE("a formula that cannot be computed has no value") {
  Sizes sizes;
  sizes.set('h', 12);
  for (const char* formula : {"", "q", "h*q", "h/0", "(h", "h)", "h+", "[h", "h?1", "h 1"}) {
    INFO(formula);
    CHECK_FALSE(sizes.evaluate(formula).has_value());
  }
}

TEST_CASE("definitions read a part of the config, its root and what was defined before") {
  const Json root = Json::parse(R"({"ratio": 0.5, "layers": [-4, -1], "deep": {"er": 3},
    "part": {"width": 8, "patch": [14, 14], "bias": true, "none": null}})");
  std::string error;
  const Config config(root, error);
  const Config part = *config.nested("part");
  Sizes sizes;
  sizes.read(
      "h=embed|width p=patch b=bias r=^ratio f=^@layers k=^#layers:1 e=^deep.er d=none:7 "
      "z=:h/r/r g=#width:5",
      part, config);
  CHECK(error == "");
  for (const Case& c : {Case{"h", 8}, Case{"p", 14}, Case{"b", 1}, Case{"r", 0.5}, Case{"f", -1},
                        Case{"k", 2}, Case{"e", 3}, Case{"d", 7}, Case{"z", 32}, Case{"g", 5}}) {
    INFO(c.formula);
    CHECK(sizes.evaluate(c.formula) == c.value);
  }
}

TEST_CASE("what a definition needs and cannot have is named") {
  const Json root = Json::parse(R"({"text": "8", "huge": 1e300})");
  for (const auto& [definition, message] :
       {std::pair{"h=width|dim", "none of the keys width|dim is there"},
        std::pair{"h=text", "key 'text' is not a number that makes sense"},
        std::pair{"h=huge", "key 'huge' is not a number that makes sense"}}) {
    std::string error;
    const Config config(root, error);
    Sizes sizes;
    sizes.read(definition, config, config);
    CHECK(error == message);
  }
}

TEST_CASE("sizes that are negative or beyond all models are refused") {
  const Json root = Json::object();
  for (const char* formula : {"-1", "1e13", "h"}) {
    std::string error;
    const Config config(root, error);
    CHECK(Sizes().whole(formula, config) == 0);
    CHECK(error == "sizes of the encoder do not make sense");
  }
}
