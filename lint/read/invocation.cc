// Wrappers are not listed: whatever stands in front of `vllm serve` (numactl, uv run, srun, nohup
// …) is stepped over, unless the command only talks about it (echo, pkill).

#include "lint/read/invocation.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "lint/read/docker_run.h"
#include "lint/read/dynamo_flags.h"
#include "lint/read/here_documents.h"
#include "lint/read/shell_reader.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr int kMaxNesting = 8;           // shells started by shells
constexpr size_t kMaxInvocations = 500;  // in one file; more are left out

struct EntryPoint {
  size_t begin = 0;  // the words that name the engine
  size_t end = 0;
  bool serve = true;
  bool dynamo = false;  // NVIDIA Dynamo's worker, which has flags of its own
  EngineUse use = EngineUse::kServer;
};

bool only_talks(std::string_view command) {
  static constexpr std::array<std::string_view, 17> kCommands = {
      "echo", "printf", "grep", "egrep", "pgrep", "pkill", "killall", "which", "type",
      "man",  "pip",    "pip3", "cat",   "sed",   "awk",   "log",     "help"};
  return std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
}

bool is_server_module(std::string_view name) {
  return name == "vllm.entrypoints.openai.api_server" || name == "vllm.entrypoints.api_server";
}

bool is_batch_module(std::string_view name) {
  return name == "vllm.entrypoints.openai.run_batch" ||
         name == "vllm.entrypoints.launchers.run_batch";
}

bool is_dynamo_worker(std::string_view name) {
  return name == "dynamo.vllm" || name == "dynamo.vllm.main" || name == "dynamo.vllm.unified_main";
}

/// Of `python3 -u -m MODULE`, whose `-m` (or script) is word `at`: the interpreter, if it is there.
size_t interpreter_of(const std::vector<Word>& words, size_t at) {
  size_t begin = words[at].text.view() == "-m" ? at : at - 1;
  while (begin > 0 && words[begin].text.view().starts_with('-')) --begin;
  return base_name(words[begin].text.view()).starts_with("python") ? begin : at + 1;
}

std::optional<EntryPoint> find_entry_point(const std::vector<Word>& words) {
  const auto word = [&](size_t i) {
    return i < words.size() ? words[i].text.view() : std::string_view();
  };
  const auto subcommand = [&](size_t begin, size_t at) -> std::optional<EntryPoint> {
    if (word(at) == "serve") return EntryPoint{begin, at + 1, true, false};
    if (word(at) != "run-batch") return std::nullopt;
    return EntryPoint{begin, at + 1, false, false, EngineUse::kBatch};
  };
  for (size_t i = 0; i < words.size(); ++i) {
    if (base_name(word(i)) == "vllm") {
      if (auto entry = subcommand(i, i + 1)) return entry;
    }
    if (word(i).ends_with("vllm/entrypoints/openai/api_server.py")) {
      return EntryPoint{i, i + 1, false, false};
    }
    // Dynamo until 0.4.
    if (word(i).ends_with("components/main.py")) return EntryPoint{i, i + 1, false, true};
    if (word(i) != "-m") continue;
    const size_t begin = interpreter_of(words, i);
    if (is_server_module(word(i + 1))) return EntryPoint{begin, i + 2, false, false};
    if (is_dynamo_worker(word(i + 1))) return EntryPoint{begin, i + 2, false, true};
    if (is_batch_module(word(i + 1)))
      return EntryPoint{begin, i + 2, false, false, EngineUse::kBatch};
    const bool cli = word(i + 1) == "vllm.entrypoints.cli.main" || word(i + 1) == "vllm";
    if (!cli) continue;
    if (auto entry = subcommand(begin, i + 2)) return entry;
  }
  return std::nullopt;
}

/// A program of somebody's own that takes vLLM's arguments and a port is taken for a server around
/// it, unless its name says that it is something else.
bool is_wrapper_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kOthers = {
      "bench", "client", "convert", "download", "eval", "proxy", "quant", "router", "test"};
  return std::none_of(kOthers.begin(), kOthers.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

std::optional<EntryPoint> find_wrapper(const std::vector<Word>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text.view();
    if (word.starts_with("--")) return std::nullopt;
    const bool module = i > 0 && words[i - 1].text.view() == "-m";
    if (!module && !word.ends_with(".py")) continue;
    const std::vector<Word> arguments(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                      words.end());
    const bool own = is_wrapper_name(base_name(word)) && !is_other_server(word);
    if (!own || !look_like_server_arguments(arguments)) {
      return std::nullopt;
    }
    const size_t begin = i > 0 ? interpreter_of(words, module ? i - 1 : i) : i;
    return EntryPoint{std::min(begin, i), i + 1, false, false};
  }
  return std::nullopt;
}

bool is_shell(std::string_view program) {
  const std::string_view name = base_name(program);
  return name == "sh" || name == "bash" || name == "zsh" || name == "dash" || name == "ash" ||
         name == "ksh";
}

/// Index of the script in `bash -lc SCRIPT NAME ARG…`, 0 when there is none.
size_t find_shell_script(const std::vector<Word>& words) {
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    if (!is_shell(words[i].text.view())) continue;
    for (size_t k = i + 1; k + 1 < words.size(); ++k) {
      const std::string_view flag = words[k].text.view();
      if (flag.size() < 2 || (flag[0] != '-' && flag[0] != '+')) break;
      const bool command = flag[0] == '-' && flag[1] != '-' && flag.back() == 'c';
      const bool ended = words[k + 1].text.view() == "--" && k + 2 < words.size();
      if (command) return ended ? k + 2 : k + 1;
      if (flag == "-o" || flag == "-O") ++k;
    }
  }
  return 0;
}

/// Programs that give a command, written as one word, to a shell somewhere else.
bool hands_on_commands(const std::vector<Word>& words) {
  static constexpr std::array<std::string_view, 5> kPrograms = {"runuser", "screen", "ssh", "su",
                                                                "tmux"};
  for (size_t i = 0; i < words.size() && i < 2; ++i) {  // behind `sudo`
    const std::string_view name = base_name(words[i].text.view());
    if (std::find(kPrograms.begin(), kPrograms.end(), name) != kPrograms.end()) return true;
  }
  return false;
}

/// `$PYTHON -m MODULE`: the word stands where the variable was set, apart from the next.
bool is_value_of_variable(const Location& where, const Location& next) {
  if (!where || where.file != next.file) return false;
  const bool in_place =
      where.range.end < next.range.begin && next.range.begin < where.range.end + 3;
  if (in_place) return false;
  std::string_view before = where.file->bytes().substr(0, where.range.begin);
  while (before.ends_with('"') || before.ends_with('\'')) before.remove_suffix(1);
  return before.ends_with('=') || before.ends_with(":-");
}

/// From the first word to the last, if they stand in one line.
Location span_of(const std::vector<Word>& words, size_t begin, size_t end) {
  if (begin + 1 < end &&
      is_value_of_variable(words[begin].text.location(), words[begin + 1].text.location())) {
    ++begin;
  }
  Location where = words[begin].text.location();
  const Location last = words[end - 1].text.location();
  if (!where || where.file != last.file || last.range.begin < where.range.end) return where;
  const std::string_view between =
      where.file->bytes().substr(where.range.end, last.range.begin - where.range.end);
  if (between.find('\n') == std::string_view::npos) where.range.end = last.range.end;
  return where;
}

class Finder {
 public:
  std::vector<Invocation> take() { return std::move(found_); }

  /// The script that `word` is to another shell.
  void inner_script(const Word& word, ShellScope& scope, int depth) {
    const bool outer = std::exchange(scope.filled_in, !word.known);
    script(word.text, scope, depth);
    scope.filled_in = outer;
  }

  void script(const SourceText& text, ShellScope& scope, int depth) {
    if (depth > kMaxNesting || text.size() > kMaxScriptBytes) return;
    read_shell(text, scope, [this, depth](const ShellCommand& command, ShellScope& inner) {
      this->command(command, inner, depth);
    });
  }

  void command(const ShellCommand& command, ShellScope& scope, int depth) {
    add_documents(command, documents_);
    if (command.words.empty() || depth > kMaxNesting || found_.size() >= kMaxInvocations) return;
    if (continues(command)) return;
    const size_t before = found_.size();
    start(command, scope, depth);
    open_ = found_.size() > before;
  }

 private:
  // No command begins with a dash: these are options of the engine on the line above.
  bool continues(const ShellCommand& command) {
    if (!open_ || !command.words[0].text.view().starts_with('-')) return false;
    Invocation& last = found_.back();
    // `\ ` at the end of a line is a blank that the shell takes for a word.
    while (!last.argv.empty() && is_blank(last.argv.back().text.view())) last.argv.pop_back();
    last.cut_off.insert(last.cut_off.end(), command.words.begin(), command.words.end());
    return true;
  }

  static bool is_blank(std::string_view text) {
    return !text.empty() && text.find_first_not_of(" \t\r") == std::string_view::npos;
  }

  void start(const ShellCommand& command, ShellScope& scope, int depth) {
    const std::string_view name = base_name(command.words[0].text.view());
    if (only_talks(name)) return;
    if (name == "eval") return eval(command, scope, depth);
    if (auto run = read_container_run(command.words)) return container(*run, depth);
    // The outermost shell comes first: `vllm serve` inside its script is not a word of ours.
    if (const std::optional<EntryPoint> entry = find_entry_point(command.words)) {
      return add(command, *entry, scope);
    }
    const size_t at = find_shell_script(command.words);
    if (at == 0) return other_command(command, scope, depth);
    const std::optional<std::vector<Word>> outer = std::move(scope.positional);
    scope.positional.emplace(command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                             command.words.end());
    scope.enter_branch();
    for (const EnvVar& variable : command.env) scope.inherit(variable);
    inner_script(command.words[at], scope, depth + 1);
    scope.drop_branch();
    scope.positional = outer;
  }

  void other_command(const ShellCommand& command, ShellScope& scope, int depth) {
    if (const auto wrapper = find_wrapper(command.words)) return add(command, *wrapper, scope);
    if (!hands_on_commands(command.words)) return;
    for (const Word& word : command.words) {
      if (word.text.view().find(' ') == std::string_view::npos) continue;
      scope.enter_branch();
      inner_script(word, scope, depth + 1);
      scope.drop_branch();
    }
  }

  void eval(const ShellCommand& command, ShellScope& scope, int depth) {
    Word whole;
    for (size_t i = 1; i < command.words.size(); ++i) {
      if (i > 1) whole.text.append_synthetic(" ", command.words[i].text.offset(0));
      whole.text.append(command.words[i].text);
      whole.known = whole.known && command.words[i].known;
    }
    inner_script(whole, scope, depth + 1);
  }

  void add(const ShellCommand& command, const EntryPoint& entry, const ShellScope& scope) {
    Invocation& invocation = found_.emplace_back();
    invocation.where = span_of(command.words, entry.begin, entry.end);
    invocation.serve = entry.serve;
    invocation.use = entry.use;
    invocation.argv.assign(command.words.begin() + static_cast<std::ptrdiff_t>(entry.end),
                           command.words.end());
    if (entry.dynamo) {
      invocation.argv = without_dynamo_flags(invocation.argv, invocation.wrapper_flags);
    }
    invocation.config = written_config(documents_, invocation.argv);
    invocation.env = scope.environment();
    for (const EnvVar& variable : command.env) set_variable(invocation.env, variable);
    for (size_t i = 0; i < entry.begin; ++i) {  // `env NAME=value vllm serve`
      if (const auto variable = as_assignment(command.words[i])) {
        set_variable(invocation.env, *variable);
      }
    }
  }

  static void set_variable(std::vector<EnvVar>& env, const EnvVar& variable) {
    const auto same = [&](const EnvVar& other) {
      return other.name.view() == variable.name.view();
    };
    env.erase(std::remove_if(env.begin(), env.end(), same), env.end());
    env.push_back(variable);
  }

  void container(const ContainerRun& run, int depth) {
    std::vector<Word> words = run.entrypoint;
    words.insert(words.end(), run.arguments.begin(), run.arguments.end());
    ShellScope scope;
    for (const EnvVar& variable : run.env) scope.inherit(variable);
    const size_t before = found_.size();
    if (!words.empty() && depth < kMaxNesting) start({words, {}}, scope, depth + 1);
    const ImageKind kind = image_kind(run.image.text.view());
    const bool by_image = run.entrypoint.empty() &&
                          (kind == ImageKind::kVllmServer || look_like_vllm_arguments(words));
    if (found_.size() == before && by_image) {
      Invocation& invocation = found_.emplace_back();
      invocation.where = run.where;
      invocation.serve = image_runs_serve(run.image.text.view());
      invocation.argv = words;
      invocation.env = scope.environment();
    }
    const std::vector<Word> repeated =
        run.entrypoint.empty() ? repeated_entry(run.image.text.view(), words) : std::vector<Word>();
    const auto around = std::make_shared<const Surroundings>(run.around);
    for (size_t i = before; i < found_.size(); ++i) {
      found_[i].around = around;
      found_[i].repeated_entry = repeated;
      if (found_[i].argv.size() == words.size()) drop_entry(found_[i]);
      found_[i].image = run.image;
      found_[i].gpu = run.gpu;
      found_[i].publishes_port = run.publishes_port;
    }
  }

  std::vector<Invocation> found_;
  std::vector<HereDocument> documents_;  // written so far
  bool open_ = false;                    // the last command started the last of them
};

}  // namespace

void drop_entry(Invocation& invocation) {
  const auto count = static_cast<std::ptrdiff_t>(invocation.repeated_entry.size());
  invocation.argv.erase(invocation.argv.begin(), invocation.argv.begin() + count);
}

std::vector<Word> repeated_entry(std::string_view image, const std::vector<Word>& words) {
  if (!runs_engine(image) || words.empty()) return {};
  size_t count = words[0].text.view() == "serve" ? 1 : 0;
  if (const auto entry = find_entry_point(words); entry && entry->begin == 0) count = entry->end;
  return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<Invocation> find_invocations(const std::vector<Word>& words, ShellScope scope) {
  Finder finder;
  finder.command({words, {}}, scope, 0);
  return finder.take();
}

std::vector<Invocation> find_invocations_in_script(const SourceText& script, ShellScope scope) {
  Finder finder;
  finder.script(script, scope, 0);
  return finder.take();
}

EngineStart start_of(Invocation invocation, std::string kind, std::string name) {
  EngineStart start;
  start.where = invocation.where;
  start.kind = std::move(kind);
  start.name = std::move(name);
  start.argv = std::move(invocation.argv);
  start.wrapper_flags = std::move(invocation.wrapper_flags);
  start.config = std::move(invocation.config);
  start.serve = invocation.serve;
  start.use = invocation.use;
  start.repeated_entry = std::move(invocation.repeated_entry);
  start.cut_off = std::move(invocation.cut_off);
  start.env = std::move(invocation.env);
  if (invocation.image) {
    start.image_known = invocation.image->known;
    start.around = std::move(invocation.around);
    start.image = std::move(invocation.image->text);
  }
  start.gpu = std::move(invocation.gpu);
  start.serves_traffic = invocation.publishes_port;
  return start;
}

}  // namespace kvbudget
