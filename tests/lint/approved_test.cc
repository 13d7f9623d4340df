// One approved file per output format, for fixtures/formats. After a change that is meant, look at
// the difference and accept it with
//
//     KVB_APPROVE=1 ctest --test-dir build/dev -R approved
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/program.h"

using namespace kvbudget;

namespace {

const std::string kFolder = KVB_SOURCE_DIR "/fixtures/formats/";

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_approved(const std::string& arguments, const std::string& name) {
  const Outcome outcome = run_program(arguments);
  REQUIRE((outcome.code == 0 || outcome.code == 1));
  const std::string path = kFolder + name + ".approved";
  if (std::getenv("KVB_APPROVE") != nullptr) std::ofstream(path) << outcome.output;
  CHECK(outcome.output == read(path));
}

}  // namespace

TEST_CASE("lint writes the approved text") { check_approved("lint fixtures/formats", "text"); }

TEST_CASE("lint writes the approved json") {
  check_approved("lint --json fixtures/formats", "json");
}

// With a few rules, so that the documentation of the others is not in here.
TEST_CASE("lint writes the approved file in each format for other programs") {
  for (const std::string format : {"sarif", "github", "gitlab", "junit", "html"}) {
    CAPTURE(format);
    check_approved(
        "lint --select KVB000,KVB001,KVB404,KVB401 --format " + format + " fixtures/formats",
        format);
  }
}

TEST_CASE("inspect writes the approved text") {
  check_approved("inspect fixtures/formats", "inspect-text");
}

TEST_CASE("explain writes the approved text") { check_approved("explain KVB000", "explain"); }
