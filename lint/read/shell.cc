// Shell scripts, and the command line that people give to this program.

#include <array>
#include <optional>
#include <string>

#include "lint/read/here_documents.h"
#include "lint/read/invocation.h"
#include "lint/read/readers.h"
#include "lint/read/slurm.h"
#include "lint/read/template_branches.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {

bool is_shell_script(const SourceFile& file) {
  const std::string_view first = file.line_text(1);
  if (first.substr(0, 2) == "#!") {
    return first.find("sh") != std::string_view::npos &&
           first.find("python") == std::string_view::npos;
  }
  static constexpr std::array<std::string_view, 6> kNames = {".sh",  ".bash",  ".zsh",
                                                             ".ksh", ".slurm", ".sbatch"};
  for (const std::string_view tail : kNames) {
    if (file.path().ends_with(tail)) return true;
  }
  // Standard input: a script is what is left when it is no YAML.
  return file.path() == "-" || file.path() == "<stdin>";
}

void read_shell_script(const SourceFile& file, FileContents& out) {
  if (file.bytes().size() > kMaxScriptBytes) {
    out.errors.push_back({{&file, {0, 0}}, "larger than 2 MiB, which no script is"});
    return;
  }
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  const std::optional<Located<std::string>> job_gpu = slurm_gpu(file);
  for (Invocation& invocation : find_invocations_in_script(text, ShellScope())) {
    EngineStart start = start_of(std::move(invocation), "shell", "script");
    start.file = &file;
    if (!start.gpu.name) start.gpu.name = job_gpu;
    out.starts.push_back(std::move(start));
  }
  add_written_engines(file, here_documents(text), out);
  if (has_template_action(file.bytes())) mark_conditional_parts(file, out.starts);
}

FileContents read_command_line(const std::vector<std::string>& words) {
  FileContents out;
  std::vector<Word> command;
  ShellScope scope;
  for (const std::string& text : words) {
    Word word{SourceText(text), true};
    auto variable = command.empty() ? as_assignment(word) : std::nullopt;
    if (variable) {
      scope.inherit(*variable);
    } else {
      command.push_back(std::move(word));
    }
  }
  std::vector<Invocation> invocations = find_invocations(command, std::move(scope));
  if (invocations.empty()) {
    std::string message = "expected a command that starts vLLM, such as 'vllm serve MODEL'";
    message += command.empty() ? ", found nothing" : ", found '" + command.front().text.str() + "'";
    out.errors.push_back({{}, std::move(message)});
    return out;
  }
  out.starts.push_back(start_of(std::move(invocations.front()), "command-line", "command line"));
  return out;
}

}  // namespace kvbudget
