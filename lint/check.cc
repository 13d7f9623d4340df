#include "lint/check.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "lint/engine/nearest.h"
#include "lint/fingerprint.h"
#include "lint/outputs.h"
#include "lint/release_flags.h"
#include "lint/suppress.h"

namespace kvbudget {

namespace {

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

// Deployments of one file stand next to each other in a collection.
void apply_to_neighbours(const Rule& rule, const std::vector<Deployment>& all,
                         std::vector<Diagnostic>& findings) {
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const SourceFile* file = all[begin].start.file;
    for (end = begin; end < all.size() && all[end].start.file == file;) ++end;
    const auto first = static_cast<int>(begin);
    Reporter reporter(rule.id, rule.name, rule.severity, first);
    rule.check_neighbours({std::span(all).subspan(begin, end - begin), first}, reporter);
    append(findings, reporter.take());
  }
}

void apply(const Rule& rule, const Collection& collection, std::vector<Diagnostic>& findings) {
  if (rule.check_file != nullptr) {
    for (const FileErrors& file : collection.syntax_errors) {
      Reporter reporter(rule.id, rule.name, rule.severity, -1);
      rule.check_file(file.errors, reporter);
      append(findings, reporter.take());
    }
  }
  if (rule.check_neighbours != nullptr) {
    apply_to_neighbours(rule, collection.deployments, findings);
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

std::vector<Suppression> suppressions_of(const Collection& collection) {
  std::set<const SourceFile*> files;
  std::vector<Suppression> result;
  const auto add = [&](std::vector<Suppression> more) {
    std::move(more.begin(), more.end(), std::back_inserter(result));
  };
  for (size_t i = 0; i < collection.deployments.size(); ++i) {
    const EngineStart& start = collection.deployments[i].start;
    if (start.file != nullptr && files.insert(start.file).second) {
      add(read_suppressions(*start.file));
    }
    if (start.around == nullptr) continue;
    for (const SourceText& text : start.around->annotations) {
      add(read_annotation(text, static_cast<int>(i)));
    }
  }
  for (const FileErrors& errors : collection.syntax_errors) {
    if (files.insert(errors.file).second) add(read_suppressions(*errors.file));
  }
  return result;
}

// Rules that did not run hid nothing for a reason of their own.
void report_faults(const Rule& rule, const RuleChoice& choice,
                   const std::vector<Suppression>& suppressions,
                   std::vector<Diagnostic>& findings) {
  if (rule.check_suppression == nullptr) return;
  for (const Suppression& s : suppressions) {
    using Kind = SuppressionFault::Kind;
    const bool known = find_rule(choice.all, s.rule) != nullptr;
    const bool ran = find_rule(choice.rules, s.rule) != nullptr;
    if (known && (!ran || (s.used && s.has_reason))) continue;
    const Kind kind = !known ? Kind::kUnknownRule : !s.used ? Kind::kHidesNothing : Kind::kNoReason;
    Reporter reporter(rule.id, rule.name, rule.severity, s.deployment);
    rule.check_suppression({kind, s.rule, known ? "" : no_such_rule(choice.all, s.rule), s.where},
                           reporter);
    append(findings, reporter.take());
  }
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
  choice.all = rules;
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

std::string project_error(const Projects* projects, RuleTable rules) {
  if (projects == nullptr) return "";
  if (!projects->errors().empty()) return projects->errors().front();
  for (const Project* project : projects->loaded()) {
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

std::optional<Collection> read_files(const std::vector<std::string>& paths, RuleTable rules,
                                     const Resolver& resolve, Io& io) {
  Collection collection =
      collect(paths.empty() ? std::vector<std::string>{"."} : paths, resolve, io);
  const std::string error = project_error(io.projects, rules);
  if (error.empty()) return collection;
  fail(io, kUsage, error);
  return std::nullopt;
}

std::vector<Diagnostic> check(const Collection& collection, const RuleChoice& choice,
                              bool require_complete, Projects* projects) {
  std::vector<Diagnostic> findings;
  for (const Rule* rule : choice.rules) apply(*rule, collection, findings);
  drop_flags_of_other_releases(collection.deployments, findings);
  if (projects != nullptr) apply_levels(*projects, findings);
  if (require_complete) {
    for (Diagnostic& finding : findings) {
      if (finding.rule == kNotCheckedRule) finding.severity = Severity::kError;
    }
  }
  std::vector<Suppression> suppressions = suppressions_of(collection);
  suppress(findings, suppressions);
  for (const Rule* rule : choice.rules) report_faults(*rule, choice, suppressions, findings);
  sort_and_deduplicate(findings);
  set_fingerprints(findings, collection.deployments);
  return findings;
}

}  // namespace kvbudget
