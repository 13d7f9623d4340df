// LLVM's CommandLine parses the words behind the command. Its options exist only while a command
// line is read, so nothing is constructed before main(); what it says about mistakes is gathered
// and repeated in one line of our own, with our own exit code.
#include "lint/command_line.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "lint/engine/nearest.h"
#include "lint/files.h"
#include "lint/option_groups.h"

namespace kvbudget {
namespace {

/// Which groups of options a command takes.
enum OptionGroup : unsigned {
  kNoOptions = 0,
  kInputOptions = 1,
  kLintOptions = 2,
  kJson = 4,
  kSizeOptions = 8,
  kRuleOptions = 16,
  kDiffOptions = 32,
  kSimulateOptions = 64,
  kPlanOptions = 128,
};

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
  unsigned options;
};

constexpr Command kCommands[] = {
    {"lint", "[PATH... | -]", "report what will not start or not fit (PATH is . by default)",
     kInputOptions | kRuleOptions | kLintOptions | kJson},
    {"inspect", "[PATH... | -]", "show what was understood of each engine start",
     kInputOptions | kJson},
    {"estimate", "PATH... | -- vllm serve MODEL ...", "show where the GPU's memory goes",
     kInputOptions | kJson},
    {"size", "", "show which GPUs serve a model at a context and concurrency",
     kInputOptions | kSizeOptions | kJson},
    {"plan", "PATH", "write the block budget of an engine, and the flags that pin it",
     kInputOptions | kPlanOptions | kJson},
    {"simulate", "PATH", "replay recorded requests against an engine, with and without a budget",
     kInputOptions | kSimulateOptions | kJson},
    {"diff", "BASE [HEAD] [-- PATH...]",
     "show what a change does: two revisions, or two files or folders",
     kInputOptions | kRuleOptions | kDiffOptions | kJson},
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
  kvbudget lint --format text --format sarif=kvbudget.sarif --baseline known.json deploy/
  kvbudget size --model Qwen/Qwen2.5-7B-Instruct --context 16384 --concurrency 32
  kvbudget plan deploy/chat.yaml -o deploy/kvbudget-plan.json
  kvbudget simulate --trace requests.csv deploy/chat.yaml
  kvbudget diff origin/main...HEAD --fail-on-loss 10% --format markdown
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

/// Who is asked for what: the streams of the process.
struct Output {
  std::ostream& out;
  std::ostream& err;
};

int usage_error(const std::string& message, const Output& output) {
  output.err << "kvbudget: " << message << '\n';
  return kUsage;
}

int unknown_command(const std::string& word, const Output& output) {
  if (word.starts_with('-')) {
    return usage_error(
        "option '" + word + "' before the command; expected kvbudget COMMAND " + word, output);
  }
  if (DiskFiles().kind(word) != FileKind::kMissing) {
    return usage_error("'" + word + "' is no command; did you mean 'kvbudget lint " + word + "'?",
                       output);
  }
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  return usage_error(
      "no command '" + word + "'" + did_you_mean(word, known, "'kvbudget --help' lists them"),
      output);
}

// LLVM's own help shouts and lists options of its own; this shows ours, from the same registry.
void print_command_help(const Command& command, cl::OptionCategory& category, std::ostream& out) {
  out << "Usage: kvbudget " << command.name << " [options] " << command.arguments << "\n\n"
      << command.summary << "\n\nOptions:\n";
  std::map<std::string, std::string> options;
  for (const auto& entry : cl::getRegisteredOptions()) {
    const cl::Option& option = *entry.second;
    const bool ours = llvm::is_contained(option.Categories, &category);
    if (!ours || option.getOptionHiddenFlag() != cl::NotHidden) continue;
    const std::string value = option.ValueStr.empty() ? "" : " " + option.ValueStr.str();
    const char* dashes = entry.first().size() == 1 ? "-" : "--";
    options[dashes + entry.first().str() + value] = option.HelpStr.str();
  }
  for (const auto& [name, help] : options) {
    constexpr size_t kNameWidth = 28;
    out << "  " << name << std::string(std::max(kNameWidth, name.size() + 2) - name.size(), ' ')
        << help << '\n';
  }
}

bool holds(const std::vector<const char*>& words, std::initializer_list<std::string_view> any) {
  return std::find_first_of(words.begin(), words.end(), any.begin(), any.end()) != words.end();
}

int print_version(const Output& output) {
  output.out << "kvbudget " << KVB_VERSION << '\n';
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
std::optional<int> parse(const Command& command, std::vector<const char*> words, Options& options,
                         const Output& output) {
  const std::string program = std::string("kvbudget ") + command.name;
  words.insert(words.begin(), program.c_str());

  cl::OptionCategory category("Options");
  cl::list<std::string> paths(cl::Positional, cl::desc(command.arguments), cl::cat(category));
  cl::list<std::string> formats("format", cl::value_desc("FORMAT[=FILE]"), cl::cat(category),
                                cl::desc((command.options & kLintOptions) != 0
                                             ? "text, json, sarif, github, gitlab, junit or html "
                                               "(repeatable, each to its own file)"
                                             : "how to write the result (repeatable)"));
  cl::opt<bool> json("json", cl::desc("short for --format json"), cl::cat(category),
                     (command.options & kJson) != 0 ? cl::NotHidden : cl::ReallyHidden);
  cl::opt<bool> markdown("markdown", cl::desc("short for --format markdown"), cl::cat(category),
                         cl::ReallyHidden);
  std::optional<InputOptions> inputs;
  std::optional<LintOptions> lint;
  std::optional<RuleOptions> rules;
  std::optional<DiffOptions> diff;
  if ((command.options & kInputOptions) != 0) inputs.emplace(category);
  if ((command.options & kLintOptions) != 0) lint.emplace(category);
  if ((command.options & kRuleOptions) != 0) rules.emplace(category);
  if ((command.options & kDiffOptions) != 0) diff.emplace(category);
  std::optional<SimulateOptions> simulate;
  if ((command.options & kSimulateOptions) != 0) simulate.emplace(category);
  std::optional<PlanOptions> plan;
  if ((command.options & kPlanOptions) != 0) plan.emplace(category);
  std::optional<SizeOptions> size;
  if ((command.options & kSizeOptions) != 0) size.emplace(category);

  if (holds(words, {"--version", "-version"})) return print_version(output);
  if (holds(words, {"--help", "-help", "-h"})) {
    print_command_help(command, category, output.out);
    return kClean;
  }
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(), command.summary,
                                   &stream)) {
    // LLVM has said the rest itself: a missing value, an option given twice.
    const std::string line = one_line(program, stream.str());
    if (!line.empty()) output.err << program << ": " << line << '\n';
    return kUsage;
  }
  options.command = command.name;
  options.paths.assign(paths.begin(), paths.end());
  for (const std::string& format : formats) options.outputs.push_back(parse_format(format));
  if (json) options.outputs.push_back({"json", ""});
  if (markdown) options.outputs.push_back({"markdown", ""});
  if (inputs) inputs->store(options);
  if (size) size->store(options);
  if (simulate) simulate->store(options);
  if (plan) plan->store(options);
  if (rules) rules->store(options);
  std::string error = lint ? lint->store(options) : "";
  if (diff) error = diff->store(options);
  if (!error.empty()) return usage_error(error, output);
  return std::nullopt;
}

}  // namespace

CommandLine parse_command_line(const std::vector<const char*>& words, std::ostream& out,
                               std::ostream& err) {
  const Output output{out, err};
  CommandLine result;
  if (words.empty()) print_help(err);
  result.exit_code = kUsage;
  if (words.empty()) return result;
  const std::string word = words[0];
  const bool help = word == "--help" || word == "-h" || word == "help";
  if (help) print_help(out);
  result.exit_code = help ? kClean : word == "--version" ? print_version(output) : kUsage;
  if (*result.exit_code == kClean) return result;
  const auto command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                    [&](const Command& known) { return known.name == word; });
  if (command == std::end(kCommands)) {
    result.exit_code = unknown_command(word, output);
    return result;
  }
  // What stands behind `--` is a command line of the engine for `estimate`, and paths for the
  // others; for `diff`, whose words are revisions, something of its own.
  const auto dashes = std::find_if(words.begin() + 1, words.end(),
                                   [](const char* w) { return std::string_view(w) == "--"; });
  Options& options = result.options;
  result.exit_code = parse(*command, {words.begin() + 1, dashes}, options, output);
  if (result.exit_code || dashes == words.end()) return result;
  const bool apart = options.command == "estimate" || options.command == "diff";
  auto& rest = apart ? options.command_line : options.paths;
  rest.insert(rest.end(), dashes + 1, words.end());
  return result;
}

}  // namespace kvbudget
