// Finds the engine that a command starts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"
#include "lint/read/shell_words.h"

namespace kvbudget {

/// An engine start as far as its command line tells.
struct Invocation {
  Location where;          ///< the words that name the engine; nowhere when an image starts it
  std::vector<Word> argv;  ///< behind the entry point
  std::vector<WrapperFlag> wrapper_flags;
  bool serve = true;
  EngineUse use = EngineUse::kServer;
  std::vector<Word> repeated_entry;  ///< see EngineStart, like the two below
  bool entry_replaced = false;
  std::vector<Word> cut_off;
  std::vector<EnvVar> env;
  std::vector<ConfigKey> config;  ///< of a config file that the script writes
  // Known only when a container is started by the command (`docker run`).
  std::optional<Word> image;
  GpuRequest gpu;
  bool publishes_port = false;
  std::shared_ptr<const Surroundings> around;
};

/// The leading words that run the engine once more where `image` already does: `vllm serve`,
/// `serve`, `python3 -m MODULE`.
std::vector<Word> repeated_entry(std::string_view image, const std::vector<Word>& words);

/// Takes the repeated words out of the arguments.
void drop_entry(Invocation& invocation);

/// What `words` start, run as they are (a container's command, argv of our own command line).
/// Shells inside (`sh -c SCRIPT`) are read. `scope` holds the environment.
std::vector<Invocation> find_invocations(const std::vector<Word>& words, ShellScope scope);

/// The start of a program that a file of that kind runs; `file` is the caller's to set.
EngineStart start_of(Invocation invocation, std::string kind, std::string name);

/// Larger scripts are not read.
constexpr uint64_t kMaxScriptBytes = uint64_t{2} << 20;

/// What a script starts.
std::vector<Invocation> find_invocations_in_script(const SourceText& script, ShellScope scope);

}  // namespace kvbudget
