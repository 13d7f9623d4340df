// Scripts in the YAML of pipelines and playbooks: steps of GitHub Actions
// (`jobs.NAME.steps[].run`), jobs of GitLab CI (`script`), tasks of Ansible (`shell`, `command`).

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr int kMaxNesting = 8;  // of Ansible's blocks

class Pipelines {
 public:
  Pipelines(const YamlFile& yaml, FileContents& out) : yaml_(yaml), out_(out) {}

  /// Workflows and composite actions of GitHub.
  void workflow(const Node& jobs, const Node& root) {
    for (const Entry& job : jobs.entries) {
      std::vector<EnvVar> env;
      add_variables(root.find("env"), env);
      add_variables(job.value->find("env"), env);
      const Node* steps = job.value->find("steps");
      if (steps == nullptr) continue;
      for (const NodePtr& step : steps->items) {
        const Node* run = step->find("run");
        if (run == nullptr || !run->is_scalar()) continue;
        std::vector<EnvVar> own = env;
        add_variables(step->find("env"), own);
        script(run->text, "github-actions", "job/" + job.key.str(), std::move(own));
      }
    }
  }

  void gitlab_job(const Entry& job, const Node& root) {
    std::vector<EnvVar> env;
    add_variables(root.find("variables"), env);
    add_variables(job.value->find("variables"), env);
    SourceText text;
    for (const std::string_view part : {"before_script", "script"}) {
      if (const Node* lines = job.value->find(part)) add_lines(*lines, text);
    }
    script(text, "gitlab-ci", "job/" + job.key.str(), std::move(env));
  }

  void tasks(const Node& list, int depth) {
    static constexpr std::array<std::string_view, 7> kLists = {
        "tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always"};
    if (depth > kMaxNesting) return;
    for (const NodePtr& task : list.items) {
      if (!task->is_mapping()) continue;
      for (const std::string_view name : kLists) {
        if (const Node* inner = task->find(name)) tasks(*inner, depth + 1);
      }
      for (const Entry& module : task->entries) task_of(*task, module);
    }
  }

 private:
  void task_of(const Node& task, const Entry& module) {
    std::string_view name = module.key.view();
    constexpr std::string_view kBuiltIn = "ansible.builtin.";
    if (name.starts_with(kBuiltIn)) name.remove_prefix(kBuiltIn.size());
    if (name != "shell" && name != "command") return;
    const Node* text = module.value->is_mapping() ? module.value->find("cmd") : module.value.get();
    if (text == nullptr || !text->is_scalar()) return;
    std::vector<EnvVar> env;
    add_variables(task.find("environment"), env);
    const Node* title = task.find("name");
    const std::string called = title != nullptr && title->is_scalar() ? title->text.str() : "task";
    script(text->text, "ansible", called, std::move(env));
  }

  static void add_lines(const Node& lines, SourceText& text) {
    if (lines.is_scalar()) add_line(lines.text, text);
    for (const NodePtr& line : lines.items) {
      if (line->is_scalar()) add_line(line->text, text);
    }
  }

  static void add_line(const SourceText& line, SourceText& text) {
    if (line.empty()) return;
    if (text.empty()) {
      text = line;
    } else {
      text.append_synthetic("\n", line.offset(0));
      text.append(line);
    }
  }

  void script(const SourceText& text, std::string kind, std::string name, std::vector<EnvVar> env) {
    EngineStart base;
    base.file = &yaml_.file;
    base.kind = std::move(kind);
    base.name = std::move(name);
    base.where = text.location();
    base.env = std::move(env);
    add_script_starts(text, ShellScope(), base, out_);
  }

  const YamlFile& yaml_;
  FileContents& out_;
};

bool holds_steps(const Entry& job) { return job.value->find("steps") != nullptr; }

bool is_gitlab_job(const Entry& job) {
  const Node* script = job.value->find("script");
  return script != nullptr && (script->is_sequence() || script->is_scalar());
}

/// A play names its hosts; a file of tasks names modules.
bool is_task(const NodePtr& item) {
  static constexpr std::array<std::string_view, 7> kSigns = {
      "hosts", "shell", "command", "ansible.builtin.shell", "ansible.builtin.command",
      "block", "tasks"};
  return item->is_mapping() &&
         std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return item->find(sign) != nullptr; });
}

}  // namespace

bool read_pipeline(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!yaml.limit.spend(64)) return false;
  Pipelines pipelines(yaml, out);
  const Node* jobs = root.find("jobs");
  const size_t before = out.starts.size();
  if (root.is_sequence()) {
    if (std::none_of(root.items.begin(), root.items.end(), is_task)) return false;
    if (yaml.limit.spend_on(root)) pipelines.tasks(root, 0);
  } else if (jobs != nullptr && jobs->is_mapping() &&
             std::any_of(jobs->entries.begin(), jobs->entries.end(), holds_steps)) {
    if (yaml.limit.spend_on(root)) pipelines.workflow(*jobs, root);
  } else {
    for (const Entry& job : root.entries) {
      if (is_gitlab_job(job) && yaml.limit.spend_on(*job.value)) pipelines.gitlab_job(job, root);
    }
  }
  return out.starts.size() > before;
}

}  // namespace kvbudget
