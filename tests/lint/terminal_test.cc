// What is written for people who look at a terminal, and when.
#include "lint/terminal.h"

#include <map>
#include <sstream>
#include <string>

#include "lint/progress.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

bool colour(bool is_terminal, const std::map<std::string, std::string>& variables) {
  return takes_colour(is_terminal, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("colours follow the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE") {
  CHECK(colour(true, {{"TERM", "xterm"}}));
  CHECK_FALSE(colour(false, {{"TERM", "xterm"}}));
  CHECK_FALSE(colour(true, {{"TERM", "dumb"}}));
  CHECK_FALSE(colour(true, {}));
  CHECK_FALSE(colour(true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}));
  CHECK(colour(true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}));
  CHECK_FALSE(colour(true, {{"TERM", "xterm"}, {"CLICOLOR", "0"}}));
  CHECK(colour(false, {{"CLICOLOR_FORCE", "1"}}));
  CHECK_FALSE(colour(false, {{"CLICOLOR_FORCE", "0"}}));
  CHECK_FALSE(colour(true, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
}

TEST_CASE("progress shows in long runs, now and then, and is wiped at the end") {
  Progress::Time now;
  std::ostringstream out;
  Progress progress(out, [&] { return now; });
  const auto after = [&](int milliseconds, size_t done) {
    out.str("");
    now = Progress::Time() + std::chrono::milliseconds(milliseconds);
    progress.show(done, 2000);
    return out.str();
  };
  CHECK(after(400, 10).empty());
  CHECK(after(600, 1500) == "\r\033[Kkvbudget: 1,500 of 2,000 files");
  CHECK(after(620, 1600).empty());
  CHECK(after(800, 1400).empty());  // a thread that comes late
  CHECK(after(810, 1700) == "\r\033[Kkvbudget: 1,700 of 2,000 files");
  CHECK(after(820, 2000) == "\r\033[K");
}

TEST_CASE("a short run shows no progress") {
  Progress::Time now;
  std::ostringstream out;
  Progress progress(out, [&] { return now; });
  for (size_t i = 1; i <= 100; ++i) progress.show(i, 100);
  CHECK(out.str().empty());
}
