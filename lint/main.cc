// The process around run(): terminal, standard streams, exit code.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "lint/command_line.h"
#include "lint/diff/diff.h"
#include "lint/files.h"
#include "lint/inputs.h"
#include "lint/plan/command.h"
#include "lint/progress.h"
#include "lint/run.h"
#include "lint/simulate/command.h"
#include "lint/terminal.h"
#include "rules/all_rules.h"

namespace kvbudget {
namespace {

int run_command(const Options& options) {
  DiskFiles disk;
  SourceStore sources(disk);
  const InputsResult inputs = read_inputs(options, sources);
  if (!inputs.inputs) {
    std::cerr << "kvbudget: " << inputs.error << '\n';
    return inputs.code;
  }
  Inputs given = *inputs.inputs;
  if (options.command == "size") given.gpu.reset();  // it tries the cards itself
  if (options.command == "size") given.gpu_count = 0;
  Projects projects(sources);
  const Environment environment = [](const char* name) { return std::getenv(name); };
  Io io{std::cout, std::cerr, std::cin, sources, &projects, options.jobs};
  io.colour = takes_colour(isatty(STDOUT_FILENO) != 0, environment);
  Progress progress(std::cerr);
  if (!options.quiet && takes_escapes(isatty(STDERR_FILENO) != 0, environment)) {
    io.progress = [&](size_t done, size_t total) { progress.show(done, total); };
  }
  if (options.command == "simulate") {
    return simulate::run_simulate(options, all_rules(), resolver_with(given, projects), io);
  }
  if (options.command == "plan") {
    return plan::run_plan(options, all_rules(), resolver_with(given, projects), io);
  }
  if (options.command == "diff") return run_diff(options, all_rules(), given, io);
  return run(options, all_rules(), resolver_with(given, projects), io);
}

}  // namespace
}  // namespace kvbudget

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    const kvbudget::CommandLine line =
        kvbudget::parse_command_line({argv + std::min(argc, 1), argv + argc}, std::cout, std::cerr);
    return line.exit_code ? *line.exit_code : kvbudget::run_command(line.options);
  } catch (const std::exception& error) {
    std::cerr << "kvbudget: " << error.what() << '\n';
    return kvbudget::kFailed;
  }
}
