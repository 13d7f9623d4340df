// Each command collects what it shows once, then writes it in every format that was asked for.
#include "lint/run.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/check.h"
#include "lint/lint_command.h"
#include "lint/outputs.h"
#include "lint/report/report.h"
#include "lint/resolve_deployment.h"
#include "lint/size.h"

namespace kvbudget {

namespace {

struct Context {
  const Options& options;
  RuleTable rules;
  const Resolver& resolve;
  Io& io;
};

int fail(const Context& context, ExitCode code, const std::string& message) {
  return fail(context.io, code, message);
}

int write_outputs(const Context& context, const Writer& write) {
  return write_outputs(context.options.outputs, context.io, write);
}

std::optional<Collection> read_files(const Context& context) {
  return read_files(context.options.paths, context.rules, context.resolve, context.io);
}

int run_lint(const Context& context) {
  return run_lint(context.options, context.rules, context.resolve, context.io);
}

int run_inspect(const Context& context) {
  const std::optional<Collection> read = read_files(context);
  if (!read) return kUsage;
  const int written = write_outputs(context, [&](std::string_view format, bool, std::ostream& out) {
    format == "json" ? write_inspect_json(read->deployments, out)
                     : write_inspect_text(read->deployments, out);
  });
  return written == kClean && !read->complete ? kFailed : written;
}

// Exit code 3 when nothing could be estimated: the numbers that a script waits for are not there.
int show_estimates(const Context& context, const std::vector<Deployment>& deployments,
                   bool single) {
  const int written = write_outputs(context, [&](std::string_view format, bool, std::ostream& out) {
    format == "json" ? write_estimate_json(deployments, single, out)
                     : write_estimate_text(deployments, out);
  });
  if (written != kClean) return written;
  const bool any = std::any_of(deployments.begin(), deployments.end(),
                               [](const Deployment& d) { return d.estimate.has_value(); });
  return any ? kClean : kFailed;
}

int run_estimate(const Context& context) {
  const Options& options = context.options;
  if (options.command_line.empty()) {
    if (options.paths.empty()) {
      return fail(context, kUsage,
                  "estimate: nothing to estimate; expected a PATH or -- vllm serve MODEL …");
    }
    const std::optional<Collection> read = read_files(context);
    if (!read) return kUsage;
    if (read->deployments.empty()) {
      return fail(context, kFailed, "estimate: no engine start found in these files");
    }
    const int shown = show_estimates(context, read->deployments, false);
    return shown == kClean && !read->complete ? kFailed : shown;
  }
  if (!options.paths.empty()) {
    return fail(context, kUsage,
                "estimate: both a path (" + options.paths[0] + ") and a command behind --");
  }
  const FileContents contents = read_command_line(options.command_line);
  if (contents.starts.empty()) {
    const std::string why =
        contents.errors.empty() ? "expected vllm serve MODEL …" : contents.errors[0].message;
    return fail(context, kUsage, "estimate: no engine start behind --: " + why);
  }
  std::vector<Deployment> deployments;
  for (const EngineStart& start : contents.starts) deployments.push_back(context.resolve(start));
  return show_estimates(context, deployments, true);
}

int run_size(const Context& context) {
  const Options& options = context.options;
  if (options.model.empty() || options.context == 0 || options.concurrency == 0) {
    return fail(context, kUsage,
                "size: expected --model ID --context TOKENS --concurrency REQUESTS");
  }
  SizeRequest request{options.model, options.context, options.concurrency, ""};
  if (!options.gpu.empty()) {
    const Gpu* card = find_gpu(std::string_view(options.gpu).substr(0, options.gpu.rfind(':')));
    if (card == nullptr) return fail(context, kUsage, "size: --gpu must be a card of the table");
    request.gpu = card->name;
  }
  const SizeResult result = find_sizes(request, context.resolve);
  if (!result.error.empty()) return fail(context, kFailed, "size: " + result.error);
  return write_outputs(context, [&](std::string_view format, bool, std::ostream& out) {
    format == "json" ? write_size_json(result.options, out) : write_size_text(result.options, out);
  });
}

int run_explain(const Context& context) {
  if (context.options.paths.empty()) {
    return fail(context, kUsage, "explain: expected the id or the name of a rule, such as KVB103");
  }
  std::vector<const Rule*> rules;
  for (const std::string& asked : context.options.paths) {
    const Rule* rule = find_rule(context.rules, asked);
    if (rule == nullptr) {
      return fail(context, kUsage, "explain: " + no_such_rule(context.rules, asked));
    }
    rules.push_back(rule);
  }
  return write_outputs(context, [&](std::string_view, bool, std::ostream& out) {
    for (const Rule* rule : rules) write_explanation(*rule, out);
  });
}

int run_rules(const Context& context) {
  return write_outputs(context, [&](std::string_view format, bool, std::ostream& out) {
    format == "markdown" ? write_rules_markdown(context.rules, out)
                         : write_rules_text(context.rules, out);
  });
}

int run_gpus(const Context& context) {
  return write_outputs(context, [](std::string_view, bool, std::ostream& out) { write_gpus(out); });
}

int run_models(const Context& context) {
  return write_outputs(context,
                       [](std::string_view, bool, std::ostream& out) { write_models(out); });
}

struct Command {
  std::string_view name;
  std::span<const std::string_view> formats;  ///< beside "text"
  bool takes_paths;
  int (*run)(const Context&);
};

constexpr std::string_view kJson[] = {"json"};
constexpr std::string_view kMarkdown[] = {"markdown"};

constexpr Command kCommands[] = {
    {"lint", kFindingFormats, true, run_lint},
    {"inspect", kJson, true, run_inspect},
    {"estimate", kJson, true, run_estimate},
    {"size", kJson, false, run_size},
    {"explain", {}, true, run_explain},
    {"rules", kMarkdown, false, run_rules},
    {"gpus", {}, false, run_gpus},
    {"models", {}, false, run_models},
};

// What is wrong with the options for this command, found before anything is read.
std::string usage_error(const Command& command, const Options& options) {
  const std::string prefix = std::string(command.name) + ": ";
  std::vector<std::string_view> formats{"text"};
  formats.insert(formats.end(), command.formats.begin(), command.formats.end());
  const std::string error = format_error(options.outputs, formats);
  if (!error.empty()) return prefix + error;
  if (!command.takes_paths && !options.paths.empty()) {
    return prefix + "takes no argument, got '" + options.paths[0] + "'";
  }
  return "";
}

}  // namespace

Resolver resolver_with(const Inputs& inputs, Projects& projects) {
  return [&inputs, &projects](const EngineStart& start) {
    const std::string path = start.file == nullptr ? "-" : start.file->path();
    return resolve_deployment(start, with_project(inputs, projects.settings_for(path)));
  };
}

int run(const Options& options, RuleTable rules, const Resolver& resolve, Io& io) {
  const Context context{options, rules, resolve, io};
  const auto command =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const Command& known) { return known.name == options.command; });
  if (command == std::end(kCommands)) {
    return fail(context, kUsage, "no command '" + options.command + "'");
  }
  const std::string error = usage_error(*command, options);
  if (!error.empty()) return fail(context, kUsage, error);
  return command->run(context);
}

}  // namespace kvbudget
