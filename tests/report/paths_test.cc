#include "lint/report/paths.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("paths are relative to the root of the repository") {
  const ReportFolders folders{"/repo/deploy", "/repo"};
  CHECK(path_below_root(folders, "a.yaml") == "deploy/a.yaml");
  CHECK(path_below_root(folders, "./x/../a.yaml") == "deploy/a.yaml");
  CHECK(path_below_root(folders, "../a.yaml") == "a.yaml");
  CHECK(path_below_root(folders, "/repo/b/a.yaml") == "b/a.yaml");
  CHECK(path_below_root(folders, "/repository/a.yaml") == "/repository/a.yaml");
  CHECK(path_below_root(folders, "../../elsewhere/a.yaml") == "/elsewhere/a.yaml");
}

TEST_CASE("without a repository paths are relative to the current folder") {
  CHECK(path_below_root({"/here", ""}, "/here/a.yaml") == "a.yaml");
  CHECK(path_below_root({}, "./deploy//a.yaml") == "deploy/a.yaml");
}

TEST_CASE("a URI holds any bytes of a path") {
  CHECK(uri_of({}, "deploy/a-b_c.~1.yaml") == "deploy/a-b_c.~1.yaml");
  CHECK(uri_of({}, "a b\"'\n%#?[].yaml") == "a%20b%22%27%0A%25%23%3F%5B%5D.yaml");
  CHECK(uri_of({}, "größe\xFF.yaml") == "gr%C3%B6%C3%9Fe%FF.yaml");
  CHECK(uri_of({}, "c:a.yaml") == "c%3Aa.yaml");
  CHECK(uri_of({"/repo", "/repo"}, "/else where/a.yaml") == "file:///else%20where/a.yaml");
}
