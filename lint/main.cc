// The process around run(): command line, terminal, exit code.
//
// LLVM's CommandLine parses the words behind the command. Its options exist only while a command
// line is read, so nothing is constructed before main(); what it says about mistakes is gathered
// and repeated in one line of our own, with our own exit code.
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lint/engine/nearest.h"
#include "lint/files.h"
#include "lint/inputs.h"
#include "lint/options.h"
#include "lint/parallel.h"
#include "lint/resolve_deployment.h"
#include "lint/run.h"
#include "rules/all_rules.h"

namespace cl = llvm::cl;

namespace kvbudget {
namespace {

/// Which groups of options a command takes.
enum OptionGroup : unsigned {
  kNoOptions = 0,
  kInputOptions = 1,
  kLintOptions = 2,
  kJson = 4,
  kSizeOptions = 8
};

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
  unsigned options;
};

constexpr Command kCommands[] = {
    {"lint", "[PATH... | -]", "report what will not start or not fit (PATH is . by default)",
     kInputOptions | kLintOptions | kJson},
    {"inspect", "[PATH... | -]", "show what was understood of each engine start",
     kInputOptions | kJson},
    {"estimate", "PATH... | -- vllm serve MODEL ...", "show where the GPU's memory goes",
     kInputOptions | kJson},
    {"size", "", "show which GPUs serve a model at a context and concurrency",
     kInputOptions | kSizeOptions | kJson},
    {"explain", "RULE...", "print the documentation of a rule, by id or name", kNoOptions},
    {"rules", "", "list the rules", kNoOptions},
    {"gpus", "", "list the GPUs that --gpu knows", kNoOptions},
    {"models", "", "list the models whose shape is built in", kNoOptions},
};

constexpr const char* kOverview =
    "kvbudget: does this vLLM deployment fit the GPU's memory, and how much KV cache is left?\n";

constexpr const char* kExamples = R"(
Examples:
  kvbudget lint deploy/
  kvbudget lint --gpu L4 --engine vllm@0.19.0 docker-compose.yml
  kvbudget size --model Qwen/Qwen2.5-7B-Instruct --context 16384 --concurrency 32
  kvbudget estimate --gpu H100-80GB -- vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 32768

'kvbudget COMMAND --help' lists the options of a command.
Exit codes: 0 nothing found, 1 findings at or above --fail-on, 2 wrong usage, 3 could not run.
)";

void print_help(std::ostream& out) {
  out << kOverview << "\nUsage: kvbudget COMMAND [options] [arguments]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    std::string name = command.name;
    name.resize(10, ' ');
    out << "  " << name << command.summary << '\n';
  }
  out << kExamples;
}

int usage_error(const std::string& message) {
  std::cerr << "kvbudget: " << message << '\n';
  return kUsage;
}

int unknown_command(const std::string& word) {
  if (word.starts_with('-')) {
    return usage_error("option '" + word + "' before the command; expected kvbudget COMMAND " +
                       word);
  }
  if (DiskFiles().kind(word) != FileKind::kMissing) {
    return usage_error("'" + word + "' is no command; did you mean 'kvbudget lint " + word + "'?");
  }
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  return usage_error("no command '" + word + "'" +
                     did_you_mean(word, known, "'kvbudget --help' lists them"));
}

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
        select("select", cl::desc("run only these rules"), cl::value_desc("RULE,..."),
               cl::CommaSeparated, cl::cat(category)),
        ignore("ignore", cl::desc("leave these rules out"), cl::value_desc("RULE,..."),
               cl::CommaSeparated, cl::cat(category)) {}

  /// What is wrong, empty when nothing is.
  std::string store(Options& options) const {
    options.require_complete = require_complete;
    if (fix) options.fix_level = FixLevel::kSafe;
    if (unsafe_fixes) options.fix_level = FixLevel::kAll;
    options.select.assign(select.begin(), select.end());
    options.ignore.assign(ignore.begin(), ignore.end());
    std::vector<std::string_view> names;
    for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
      names.push_back(severity_name(severity));
      options.fail_on = severity;
      if (names.back() == fail_on.getValue()) return "";
    }
    return "--fail-on: no severity '" + fail_on.getValue() + "'" +
           did_you_mean(fail_on.getValue(), names, "expected error, warning or info");
  }

  cl::opt<std::string> fail_on;
  cl::opt<bool> require_complete;
  cl::opt<bool> fix, unsafe_fixes;
  cl::list<std::string> select, ignore;
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

// LLVM's own help shouts and lists options of its own; this shows ours, from the same registry.
void print_command_help(const Command& command, cl::OptionCategory& category) {
  std::cout << "Usage: kvbudget " << command.name << " [options] " << command.arguments << "\n\n"
            << command.summary << "\n\nOptions:\n";
  std::map<std::string, std::string> options;
  for (const auto& entry : cl::getRegisteredOptions()) {
    const cl::Option& option = *entry.second;
    const bool ours = llvm::is_contained(option.Categories, &category);
    if (!ours || option.getOptionHiddenFlag() != cl::NotHidden) continue;
    const std::string value = option.ValueStr.empty() ? "" : " " + option.ValueStr.str();
    options["--" + entry.first().str() + value] = option.HelpStr.str();
  }
  for (const auto& [name, help] : options) {
    constexpr size_t kNameWidth = 28;
    std::cout << "  " << name
              << std::string(std::max(kNameWidth, name.size() + 2) - name.size(), ' ') << help
              << '\n';
  }
}

bool holds(const std::vector<const char*>& words, std::initializer_list<std::string_view> any) {
  return std::find_first_of(words.begin(), words.end(), any.begin(), any.end()) != words.end();
}

int print_version() {
  std::cout << "kvbudget " << KVB_VERSION << '\n';
  return kClean;
}

// "Unknown command line argument '--gpus'.  Try: '…'" and "Did you mean '--gpu'?", each behind the
// program's name, as one line.
std::string one_line(const std::string& program, const std::string& text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with(program + ": ")) line.erase(0, program.size() + 2);
    line = line.substr(0, line.find(".  Try: "));
    if (line.empty()) continue;
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
    result += (result.empty() ? "" : "; ") + line;
  }
  return result;
}

OutputSpec parse_format(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Fills `options` from the words behind the command; an exit code when they are wrong.
std::optional<int> parse(const Command& command, std::vector<const char*> words, Options& options) {
  const std::string program = std::string("kvbudget ") + command.name;
  words.insert(words.begin(), program.c_str());

  cl::OptionCategory category("Options");
  cl::list<std::string> paths(cl::Positional, cl::desc(command.arguments), cl::cat(category));
  cl::list<std::string> formats("format", cl::value_desc("FORMAT[=FILE]"), cl::cat(category),
                                cl::desc("how to write the result (repeatable)"));
  cl::opt<bool> json("json", cl::desc("short for --format json"), cl::cat(category),
                     (command.options & kJson) != 0 ? cl::NotHidden : cl::ReallyHidden);
  cl::opt<bool> markdown("markdown", cl::desc("short for --format markdown"), cl::cat(category),
                         cl::ReallyHidden);
  std::optional<InputOptions> inputs;
  std::optional<LintOptions> lint;
  if ((command.options & kInputOptions) != 0) inputs.emplace(category);
  if ((command.options & kLintOptions) != 0) lint.emplace(category);
  std::optional<SizeOptions> size;
  if ((command.options & kSizeOptions) != 0) size.emplace(category);

  if (holds(words, {"--version", "-version"})) return print_version();
  if (holds(words, {"--help", "-help", "-h"})) {
    print_command_help(command, category);
    return kClean;
  }
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(), command.summary,
                                   &stream)) {
    // LLVM has said the rest itself: a missing value, an option given twice.
    const std::string line = one_line(program, stream.str());
    if (!line.empty()) std::cerr << program << ": " << line << '\n';
    return kUsage;
  }
  options.command = command.name;
  options.paths.assign(paths.begin(), paths.end());
  for (const std::string& format : formats) options.outputs.push_back(parse_format(format));
  if (json) options.outputs.push_back({"json", ""});
  if (markdown) options.outputs.push_back({"markdown", ""});
  if (inputs) inputs->store(options);
  if (size) size->store(options);
  const std::string error = lint ? lint->store(options) : "";
  if (!error.empty()) return usage_error(error);
  return std::nullopt;
}

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

int main_of(const std::vector<const char*>& arguments) {
  if (arguments.empty()) {
    print_help(std::cerr);
    return kUsage;
  }
  const std::string word = arguments[0];
  if (word == "--help" || word == "-h" || word == "help") {
    print_help(std::cout);
    return kClean;
  }
  if (word == "--version") return print_version();
  const auto command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                    [&](const Command& known) { return known.name == word; });
  if (command == std::end(kCommands)) return unknown_command(word);

  // What stands behind `--` is a command line of the engine for `estimate` and paths for the
  // others.
  const auto dashes = std::find_if(arguments.begin() + 1, arguments.end(),
                                   [](const char* w) { return std::string_view(w) == "--"; });
  Options options;
  if (const auto code = parse(*command, {arguments.begin() + 1, dashes}, options)) return *code;
  if (dashes != arguments.end()) {
    auto& rest = options.command == "estimate" ? options.command_line : options.paths;
    rest.insert(rest.end(), dashes + 1, arguments.end());
  }
  return run_command(options);
}

}  // namespace
}  // namespace kvbudget

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return kvbudget::main_of({argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "kvbudget: " << error.what() << '\n';
    return kvbudget::kFailed;
  }
}
