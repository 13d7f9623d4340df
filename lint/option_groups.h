// The options of the command line, in the groups that commands take. They are registered with
// LLVM's CommandLine for as long as they live, so only lint/command_line.cc makes them.
#pragma once

#include <llvm/Support/CommandLine.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "lint/engine/nearest.h"
#include "lint/options.h"
#include "lint/parallel.h"

namespace kvbudget {

namespace cl = llvm::cl;

/// The options of the inputs that a file may not hold.
struct InputOptions {
  explicit InputOptions(cl::OptionCategory& category)
      : gpu("gpu", cl::desc("card of each engine, before what files say; see 'kvbudget gpus'"),
            cl::value_desc("NAME[:COUNT]"), cl::cat(category)),
        gpu_memory("gpu-memory", cl::desc("memory of that card, for any other card or a slice"),
                   cl::value_desc("23.5GiB"), cl::cat(category)),
        engine("engine", cl::desc("engine version in place of the image's"),
               cl::value_desc("vllm@VERSION"), cl::cat(category)),
        model_configs("model-config", cl::desc("a model's config.json or its folder (repeatable)"),
                      cl::value_desc("[ID=]PATH"), cl::cat(category)),
        model_dirs("models", cl::desc("folder of model configs (repeatable)"),
                   cl::value_desc("DIR"), cl::cat(category)),
        hub("hub", cl::desc("ask the model hub at $HF_ENDPOINT for configs that are not here"),
            cl::cat(category)),
        jobs("jobs", cl::desc("threads that read files; as many as the machine runs if left out"),
             cl::value_desc("N"), cl::init(0), cl::cat(category)) {}

  void store(Options& options) const {
    options.jobs = jobs == 0 ? hardware_threads() : std::min(jobs.getValue(), kMostThreads);
    options.hub = hub;
    options.gpu = gpu;
    options.gpu_memory = gpu_memory;
    options.engine = engine;
    options.model_configs.assign(model_configs.begin(), model_configs.end());
    options.model_dirs.assign(model_dirs.begin(), model_dirs.end());
  }

  static constexpr unsigned kMostThreads = 256;
  cl::opt<std::string> gpu, gpu_memory, engine;
  cl::list<std::string> model_configs, model_dirs;
  cl::opt<bool> hub;
  cl::opt<unsigned> jobs;
};

/// The severity of that name, or what is wrong with it as an option's value.
inline std::string read_severity(const std::string& name, Severity& severity) {
  std::vector<std::string_view> names;
  for (const Severity known : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
    names.push_back(severity_name(known));
    severity = known;
    if (names.back() == name) return "";
  }
  return "--fail-on: no severity '" + name + "'" +
         did_you_mean(name, names, "expected error, warning or info");
}

/// Which rules run.
struct RuleOptions {
  explicit RuleOptions(cl::OptionCategory& category)
      : select("select", cl::desc("run only these rules"), cl::value_desc("RULE,..."),
               cl::CommaSeparated, cl::cat(category)),
        ignore("ignore", cl::desc("leave these rules out"), cl::value_desc("RULE,..."),
               cl::CommaSeparated, cl::cat(category)) {}

  void store(Options& options) const {
    options.select.assign(select.begin(), select.end());
    options.ignore.assign(ignore.begin(), ignore.end());
  }

  cl::list<std::string> select, ignore;
};

struct LintOptions {
  explicit LintOptions(cl::OptionCategory& category)
      : fail_on("fail-on", cl::desc("lowest severity that gives exit code 1: error, warning, info"),
                cl::value_desc("SEVERITY"), cl::init("error"), cl::cat(category)),
        require_complete("require-complete",
                         cl::desc("a deployment that could not be judged is an error (KVB001)"),
                         cl::cat(category)),
        fix("fix", cl::desc("apply the fixes that cannot change what the service does"),
            cl::cat(category)),
        unsafe_fixes("unsafe-fixes",
                     cl::desc("apply all fixes; read the change before you keep it"),
                     cl::cat(category)),
        since("since", cl::desc("name the defaults that changed from this release to the file's"),
              cl::value_desc("vllm@VERSION"), cl::cat(category)),
        baseline("baseline", cl::desc("leave out the findings that FILE holds"),
                 cl::value_desc("FILE"), cl::cat(category)),
        write_baseline("write-baseline",
                       cl::desc("write the findings of today to FILE, and leave them out"),
                       cl::value_desc("FILE"), cl::cat(category)),
        quiet("quiet", cl::desc("text: findings alone, no summary; no progress"),
              cl::cat(category)),
        statistics("statistics", cl::desc("text: count the findings of each rule"),
                   cl::cat(category)) {}

  /// What is wrong, empty when nothing is.
  std::string store(Options& options) const {
    options.require_complete = require_complete;
    options.since = since;
    if (fix) options.fix_level = FixLevel::kSafe;
    if (unsafe_fixes) options.fix_level = FixLevel::kAll;
    options.baseline = baseline;
    options.write_baseline = write_baseline;
    options.quiet = quiet;
    options.statistics = statistics;
    return read_severity(fail_on, options.fail_on);
  }

  cl::opt<std::string> fail_on;
  cl::opt<bool> require_complete;
  cl::opt<bool> fix, unsafe_fixes;
  cl::opt<std::string> since;
  cl::opt<std::string> baseline, write_baseline;
  cl::opt<bool> quiet, statistics;
};

struct DiffOptions {
  explicit DiffOptions(cl::OptionCategory& category)
      : fail_on("fail-on", cl::desc("a new finding of that severity or above gives exit code 1"),
                cl::value_desc("SEVERITY"), cl::cat(category)),
        fail_on_loss("fail-on-loss",
                     cl::desc("exit code 1 when KV tokens, concurrency or longest context fall by "
                              "more, or a verdict gets worse"),
                     cl::value_desc("10%"), cl::cat(category)) {}

  /// What is wrong, empty when nothing is.
  std::string store(Options& options) const {
    if (fail_on.getNumOccurrences() > 0) {
      const std::string error = read_severity(fail_on, options.fail_on_new.emplace());
      if (!error.empty()) return error;
    }
    if (fail_on_loss.getNumOccurrences() == 0) return "";
    std::string_view digits = fail_on_loss.getValue();
    if (digits.ends_with('%')) digits.remove_suffix(1);
    double& percent = options.loss_percent.emplace();
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, percent);
    const bool valid = error == std::errc() && rest == end && percent >= 0.0 && percent <= 100.0;
    return valid ? ""
                 : "--fail-on-loss " + fail_on_loss.getValue() +
                       ": expected a percentage, such as 10%";
  }

  cl::opt<std::string> fail_on, fail_on_loss;
};

struct SimulateOptions {
  explicit SimulateOptions(cl::OptionCategory& category)
      : trace("trace",
              cl::desc("recorded requests: CSV of Azure's traces, JSON lines of Mooncake's"),
              cl::value_desc("FILE"), cl::cat(category)),
        max_tokens("max-tokens",
                   cl::desc("what clients ask for: oracle (what was generated), a factor of it, or "
                            "a number (all three kinds if left out)"),
                   cl::value_desc("oracle|2x|1024,..."), cl::CommaSeparated, cl::cat(category)),
        speedup("speedup", cl::desc("arrivals come so many times as fast"), cl::value_desc("X"),
                cl::init(1.0), cl::cat(category)),
        blocks("blocks", cl::desc("usable KV blocks, in place of the estimate's"),
               cl::value_desc("N"), cl::init(0), cl::cat(category)),
        fixed_ms("step-ms", cl::desc("time of a step (6, of Llama-3.1-8B on an H100)"),
                 cl::value_desc("MS"), cl::init(simulate::StepTime().fixed_ms), cl::cat(category)),
        prefill_token_ms("prefill-token-ms", cl::desc("and of each token of a prompt in it (0.04)"),
                         cl::value_desc("MS"), cl::init(simulate::StepTime().prefill_token_ms),
                         cl::cat(category)),
        kv_token_us("kv-token-us", cl::desc("and of each token of KV cache that it reads (0.045)"),
                    cl::value_desc("US"), cl::init(simulate::StepTime().kv_token_us),
                    cl::cat(category)) {}

  void store(Options& options) const {
    options.simulate = {trace,
                        {max_tokens.begin(), max_tokens.end()},
                        speedup,
                        blocks,
                        {fixed_ms, prefill_token_ms, kv_token_us}};
  }

  cl::opt<std::string> trace;
  cl::list<std::string> max_tokens;
  cl::opt<double> speedup;
  cl::opt<unsigned long long> blocks;
  cl::opt<double> fixed_ms, prefill_token_ms, kv_token_us;
};

struct PlanOptions {
  explicit PlanOptions(cl::OptionCategory& category)
      : output("o", cl::desc("write the plan to FILE, not to standard output"),
               cl::value_desc("FILE"), cl::cat(category)),
        mode("mode",
             cl::desc("observe (count), optimistic, or strict (whole lives are reserved); the "
                      "project file's if left out, else strict"),
             cl::value_desc("MODE"), cl::cat(category)),
        deployment("deployment", cl::desc("which of several engine starts: its name or FILE:LINE"),
                   cl::value_desc("NAME"), cl::cat(category)),
        check("check", cl::desc("exit code 1 when the plan in FILE is not what it would be now"),
              cl::value_desc("FILE"), cl::cat(category)),
        snippets("snippets",
                 cl::desc("print flags, a ConfigMap with the plan, its mount and alert rules"),
                 cl::cat(category)) {}

  void store(Options& options) const { options.plan = {output, mode, deployment, check, snippets}; }

  cl::opt<std::string> output, mode, deployment, check;
  cl::opt<bool> snippets;
};

struct SizeOptions {
  explicit SizeOptions(cl::OptionCategory& category)
      : model("model", cl::desc("the model, as vLLM takes it"), cl::value_desc("ID"),
              cl::cat(category)),
        context("context", cl::desc("tokens of one request, prompt and answer"),
                cl::value_desc("TOKENS"), cl::cat(category)),
        concurrency("concurrency", cl::desc("requests of that length at once"),
                    cl::value_desc("REQUESTS"), cl::init(1), cl::cat(category)) {}

  void store(Options& options) const {
    options.model = model;
    options.context = context;
    options.concurrency = concurrency;
  }

  cl::opt<std::string> model;
  cl::opt<unsigned long long> context;
  cl::opt<unsigned> concurrency;
};

}  // namespace kvbudget
