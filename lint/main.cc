// The process around run(): terminal, standard streams, exit code.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "lint/command_line.h"
#include "lint/files.h"
#include "lint/inputs.h"
#include "lint/resolve_deployment.h"
#include "lint/run.h"
#include "rules/all_rules.h"

namespace kvbudget {
namespace {

bool takes_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

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
  Io io{std::cout, std::cerr, std::cin, sources, &projects, options.jobs, takes_colour()};
  const Resolver resolve = [&](const EngineStart& start) {
    const std::string path = start.file == nullptr ? "-" : start.file->path();
    return resolve_deployment(start, with_project(given, projects.settings_for(path)));
  };
  return run(options, all_rules(), resolve, io);
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
