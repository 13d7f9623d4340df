// Runs the program in a process of its own.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "tests/support/catch.h"

namespace kvbudget {

struct Outcome {
  int code = -1;
  std::string output;
};

/// `arguments` are words of a shell, run in the root of the sources; standard error goes where they
/// send it.
inline Outcome run_program(const std::string& arguments) {
  const std::string command = "cd '" KVB_SOURCE_DIR "' && '" KVB_PROGRAM "' " + arguments;
  FILE* pipe = popen((command + " </dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char chunk[4096];
  for (size_t count = 0; (count = std::fread(chunk, 1, sizeof chunk, pipe)) > 0;) {
    outcome.output.append(chunk, count);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace kvbudget
