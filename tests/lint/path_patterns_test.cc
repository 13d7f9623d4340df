#include "lint/path_patterns.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("patterns match paths as gitignore's do") {
  struct Case {
    const char* pattern;
    const char* path;
    bool covered;
  };
  const Case cases[] = {
      {"*.yaml", "a.yaml", true},
      {"*.yaml", "deep/er/a.yaml", true},
      {"/*.yaml", "deep/a.yaml", false},
      {"vendor/**", "vendor/a/b.yaml", true},
      {"vendor/**", "other/vendor/a.yaml", false},
      {"vendor", "other/vendor/a.yaml", true},
      {"**/vendor/**", "x/vendor/a.yaml", true},
      {"**/vendor/**", "vendor/a.yaml", true},
      {"a/**/b.yaml", "a/b.yaml", true},
      {"a/**/b.yaml", "a/x/y/b.yaml", true},
      {"prod/*.yaml", "prod/eu/a.yaml", false},
      {"prod?/[ab]*.yml", "prod1/beta.yml", true},
      {"prod?/[!ab]*.yml", "prod1/beta.yml", false},
      {"build/", "build/a.yaml", true},
      {"build/", "src/build", false},
      {"a*b*c", "axxbyyc", true},
      {"a*b*c", "axxbyy", false},
      {"./x/*.sh", "x/run.sh", true},
      {"[", "[", true},
  };
  for (const Case& c : cases) {
    INFO(c.pattern << " on " << c.path);
    PathPatterns patterns;
    patterns.add(c.pattern);
    CHECK(patterns.covers(c.path) == c.covered);
  }
}

TEST_CASE("the last pattern that matches decides") {
  PathPatterns patterns;
  patterns.add_lines("# comment\n*.yaml\r\n!keep.yaml\n\n");
  CHECK(patterns.covers("a.yaml"));
  CHECK_FALSE(patterns.covers("sub/keep.yaml"));
  CHECK(patterns.match("keep.yaml", false) == PathPatterns::Match::kTakenBack);
}

TEST_CASE("a pattern of stars costs no more than its length allows") {
  PathPatterns patterns;
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  patterns.add(pattern + "b");
  CHECK_FALSE(patterns.covers(std::string(2000, 'a')));
}
