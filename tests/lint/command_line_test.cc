// The real program in a process of its own: only what main.cc decides, which no other test reaches.
#include <string>

#include "tests/support/catch.h"
#include "tests/support/program.h"

using namespace kvbudget;

namespace {

// Standard output and error, in the order written.
Outcome run(const std::string& arguments) { return run_program(arguments + " 2>&1"); }

}  // namespace

TEST_CASE("help and version go to standard output with exit code 0") {
  for (const char* word : {"--help", "-h", "help"}) {
    const Outcome help = run_program(std::string(word) + " 2>/dev/null");
    CHECK(help.code == 0);
    CHECK(help.output.find("kvbudget lint deploy/") != std::string::npos);
  }
  CHECK(run("--version").output == "kvbudget " KVB_VERSION "\n");
  CHECK(run("lint --version").output == "kvbudget " KVB_VERSION "\n");
  const Outcome lint = run("lint --help");
  CHECK(lint.code == 0);
  CHECK(lint.output.find("--require-complete") != std::string::npos);
  CHECK(lint.output.find("--help-list") == std::string::npos);
}

TEST_CASE("wrong usage gives exit code 2 and one line with the nearest correct thing") {
  const std::pair<const char*, const char*> cases[] = {
      {"lnt .", "kvbudget: no command 'lnt'; did you mean 'lint'?\n"},
      {"--gpu L4 lint",
       "kvbudget: option '--gpu' before the command; expected kvbudget COMMAND --gpu\n"},
      {"/", "kvbudget: '/' is no command; did you mean 'kvbudget lint /'?\n"},
      {"lint --gpus L4 .",
       "kvbudget lint: unknown command line argument '--gpus'; did you mean '--gpu'?\n"},
      {"lint --fail-on eror .", "kvbudget: --fail-on: no severity 'eror'; did you mean 'error'?\n"},
      {"lint --format csv .",
       "kvbudget: lint: no format 'csv'; expected text, json, sarif, github, gitlab, junit or "
       "html\n"},
      {"gpus x", "kvbudget: gpus: takes no argument, got 'x'\n"},
      {"estimate",
       "kvbudget: estimate: nothing to estimate; expected a PATH or -- vllm serve MODEL …\n"},
  };
  for (const auto& [arguments, expected] : cases) {
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.output == expected);
  }
}

TEST_CASE("an option without its value, or given twice, is wrong usage") {
  for (const char* arguments : {"lint --gpu", "lint --gpu L4 --gpu A10 .", "lint --json=maybe ."}) {
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.code == 2);
    CHECK_FALSE(outcome.output.empty());
  }
  CHECK(run("").code == 2);
}

TEST_CASE("options stand before and after the paths") {
  const std::string file = "CMakePresets.json";
  CHECK(run("lint --gpu L4 " + file).code == 0);
  CHECK(run("lint " + file + " --gpu L4").code == 0);
  CHECK(run("lint -- " + file).code == 0);
  CHECK(run("lint " + file + " --gpu L44").code == 2);
  CHECK(run("lint - --json").output.find("\"summary\"") != std::string::npos);
}

TEST_CASE("a path that is not there gives exit code 3") {
  const Outcome outcome = run("lint /nowhere/at/all.yaml");
  CHECK(outcome.code == 3);
  CHECK(outcome.output == "kvbudget: /nowhere/at/all.yaml: no such file or folder\n");
}
