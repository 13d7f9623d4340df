// One run of the program, from options to exit code, without a process around it: everything that
// touches the world comes in through Io.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>

#include "lint/deployment.h"
#include "lint/files.h"
#include "lint/inputs.h"
#include "lint/options.h"
#include "lint/projects.h"
#include "lint/rule.h"

namespace kvbudget {

struct Io {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  SourceStore& sources;
  Projects* projects = nullptr;  ///< null: project files are not asked
  unsigned threads = 1;          ///< that files are read by
  bool colour = false;           ///< `out` is a terminal that takes colours
  /// Told, by several threads at once, how many of how many files were read; may be empty.
  std::function<void(size_t done, size_t total)> progress = {};
};

/// Finds out everything about one engine start (lint/resolve_deployment.h); tests put in their own.
/// Called by several threads at once.
using Resolver = std::function<Deployment(const EngineStart&)>;

/// What resolve_deployment() finds out with these inputs and the project file of each start. Both
/// must outlive it.
Resolver resolver_with(const Inputs& inputs, Projects& projects);

/// Runs options.command and returns the exit code (ExitCode).
int run(const Options& options, RuleTable rules, const Resolver& resolve, Io& io);

}  // namespace kvbudget
