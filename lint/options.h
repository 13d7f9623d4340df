// What the user asked for; main.cc fills it from the command line, nothing else does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lint/diagnostic.h"
#include "lint/fix.h"
#include "lint/simulate/engine.h"

namespace kvbudget {

struct OutputSpec {
  std::string format = "text";  ///< "text", or one of the command's other formats
  std::string path;             ///< empty: standard output
};

/// simulate
struct SimulateChoices {
  std::string trace;                    ///< --trace FILE
  std::vector<std::string> max_tokens;  ///< --max-tokens; empty: oracle, 2x and 1024
  double speedup = 1.0;                 ///< --speedup
  uint64_t blocks = 0;                  ///< --blocks; 0: what the estimate says
  simulate::StepTime step;              ///< --step-ms, --prefill-token-ms, --kv-token-us
};

/// plan
struct PlanChoices {
  std::string output;      ///< -o FILE; empty: standard output
  std::string mode;        ///< --mode; empty: what the project file says, else strict
  std::string deployment;  ///< --deployment NAME
  std::string check;       ///< --check FILE
  bool snippets = false;   ///< --snippets
};

struct Options {
  std::string command;  ///< "lint", "inspect", "estimate", "size", "plan", "simulate", "explain",
                        ///< "rules", "gpus", "models"
  std::vector<std::string> paths;          ///< files and folders; "-" is standard input
  std::vector<std::string> command_line;   ///< words after `--`: estimate's command, diff's paths
  std::string model;                       ///< size --model
  uint64_t context = 0;                    ///< size --context, tokens
  uint32_t concurrency = 1;                ///< size --concurrency, requests at once
  std::string gpu;                         ///< --gpu NAME[:COUNT]
  std::string gpu_memory;                  ///< --gpu-memory 23.5GiB
  std::string engine;                      ///< --engine vllm@0.33.0
  std::string since;                       ///< --since vllm@0.19.1
  std::vector<std::string> model_configs;  ///< --model-config [ID=]PATH
  std::vector<std::string> model_dirs;     ///< --models DIR
  bool hub = false;                        ///< --hub
  std::vector<OutputSpec> outputs;         ///< --format, --json
  Severity fail_on = Severity::kError;
  unsigned jobs = 1;  ///< --jobs, threads
  bool require_complete = false;
  FixLevel fix_level = FixLevel::kNone;  ///< --fix, --unsafe-fixes
  std::vector<std::string> select;       ///< --select KVB103,…
  std::vector<std::string> ignore;       ///< --ignore
  std::string baseline;                  ///< --baseline FILE; empty: none
  std::string write_baseline;            ///< --write-baseline FILE
  bool quiet = false;
  bool statistics = false;
  std::optional<Severity> fail_on_new;  ///< diff --fail-on
  std::optional<double> loss_percent;   ///< diff --fail-on-loss
  SimulateChoices simulate;
  PlanChoices plan;
};

/// Exit codes of the program.
enum ExitCode { kClean = 0, kFindings = 1, kUsage = 2, kFailed = 3 };

}  // namespace kvbudget
