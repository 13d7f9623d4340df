#include "lint/check.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "lint/engine/nearest.h"
#include "lint/suppress.h"

namespace kvbudget {

namespace {

// The rule that says a deployment could not be judged; --require-complete makes it an error.
constexpr std::string_view kNotChecked = "KVB001";

auto place(const Diagnostic& finding) {
  const SourceFile* file = finding.where.file;
  const std::string_view path = file == nullptr ? std::string_view() : file->path();
  return std::tuple(path, finding.where.range.begin, finding.rule,
                    std::string_view(finding.message), finding.where.range.end);
}

// Byte offsets order like line and column within one file.
void sort_and_deduplicate(std::vector<Diagnostic>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b); };
  findings.erase(std::unique(findings.begin(), findings.end(), same), findings.end());
}

void append(std::vector<Diagnostic>& findings, std::vector<Diagnostic> more) {
  std::move(more.begin(), more.end(), std::back_inserter(findings));
}

void apply(const Rule& rule, const Collection& collection, std::vector<Diagnostic>& findings) {
  if (rule.check_file != nullptr) {
    for (const FileErrors& file : collection.syntax_errors) {
      Reporter reporter(rule.id, rule.name, rule.severity, -1);
      rule.check_file(file.errors, reporter);
      append(findings, reporter.take());
    }
  }
  if (rule.check_deployment == nullptr) return;
  for (size_t i = 0; i < collection.deployments.size(); ++i) {
    Reporter reporter(rule.id, rule.name, rule.severity, static_cast<int>(i));
    rule.check_deployment(collection.deployments[i], reporter);
    append(findings, reporter.take());
  }
}

// Severities that project files give to rules, by id or by name.
void apply_levels(Projects& projects, std::vector<Diagnostic>& findings) {
  std::erase_if(findings, [&](Diagnostic& finding) {
    if (!finding.where) return false;
    const ProjectSettings settings = projects.settings_for(finding.where.file->path());
    for (const std::string_view name : {finding.rule, finding.name}) {
      const auto level = settings.rules.find(name);
      if (level == settings.rules.end()) continue;
      if (!level->second) return true;
      finding.severity = *level->second;
      return false;
    }
    return false;
  });
}

// Rules that `names` (of `option`) stand for; false with `error` filled when one stands for none.
bool find_rules(RuleTable rules, std::string_view option, const std::vector<std::string>& names,
                std::vector<const Rule*>& found, std::string& error) {
  for (const std::string& name : names) {
    const Rule* rule = find_rule(rules, name);
    if (rule == nullptr) {
      error = std::string(option) + ": " + no_such_rule(rules, name);
      return false;
    }
    found.push_back(rule);
  }
  return true;
}

bool contains(const std::vector<const Rule*>& rules, const Rule* rule) {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

}  // namespace

const Rule* find_rule(RuleTable rules, std::string_view id_or_name) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule* rule) {
    return rule->id == id_or_name || rule->name == id_or_name;
  });
  return found == rules.end() ? nullptr : *found;
}

std::string no_such_rule(RuleTable rules, std::string_view asked) {
  std::vector<std::string_view> known;
  for (const Rule* rule : rules) {
    known.push_back(rule->id);
    known.push_back(rule->name);
  }
  return "no rule '" + std::string(asked) + "'" +
         did_you_mean(asked, known, "'kvbudget rules' lists them");
}

RuleChoice choose_rules(const Options& options, RuleTable rules) {
  RuleChoice choice;
  std::vector<const Rule*> selected;
  std::vector<const Rule*> ignored;
  if (!find_rules(rules, "--select", options.select, selected, choice.error) ||
      !find_rules(rules, "--ignore", options.ignore, ignored, choice.error)) {
    return choice;
  }
  for (const Rule* rule : rules) {
    const bool wanted = selected.empty() || contains(selected, rule);
    if (wanted && !contains(ignored, rule)) choice.rules.push_back(rule);
  }
  return choice;
}

std::string unknown_project_rule(const Projects& projects, RuleTable rules) {
  for (const Project* project : projects.loaded()) {
    std::vector<const ProjectSettings*> all = {&project->settings};
    for (const ProjectOverride& over : project->overrides) all.push_back(&over.settings);
    for (const ProjectSettings* settings : all) {
      for (const auto& [name, level] : settings->rules) {
        if (find_rule(rules, name) == nullptr) {
          return project->path + ": rules: " + no_such_rule(rules, name);
        }
      }
    }
  }
  return "";
}

std::vector<Diagnostic> check(const Collection& collection, const std::vector<const Rule*>& rules,
                              bool require_complete, Projects* projects) {
  std::vector<Diagnostic> findings;
  for (const Rule* rule : rules) apply(*rule, collection, findings);
  if (projects != nullptr) apply_levels(*projects, findings);
  if (require_complete) {
    for (Diagnostic& finding : findings) {
      if (finding.rule == kNotChecked) finding.severity = Severity::kError;
    }
  }
  suppress(findings);
  sort_and_deduplicate(findings);
  return findings;
}

}  // namespace kvbudget
