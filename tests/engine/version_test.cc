#include "lint/engine/version.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("a release tag gives its version whatever is hung behind it") {
  CHECK(parse_version("v0.19.1") == Version{0, 19, 1});
  CHECK(parse_version("0.10.2.post1") == Version{0, 10, 2});
  CHECK(parse_version("v0.20.0-cu129") == Version{0, 20, 0});
  CHECK(parse_version("v0.11.0rc2") == Version{0, 11, 0});
  CHECK(parse_version("0.10") == Version{0, 10, 0});
}

TEST_CASE("a tag that is no release gives no version") {
  for (const char* text : {"", "latest", "nightly", "v", "12", "0.x", "0.19.0abc", "sha256:0123"}) {
    INFO(text);
    CHECK_FALSE(parse_version(text).has_value());
  }
}
