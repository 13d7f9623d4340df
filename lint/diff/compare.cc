#include "lint/diff/compare.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "lint/fingerprint.h"
#include "lint/report/effective.h"
#include "lint/report/shown.h"

namespace kvbudget {
namespace {

using memory::Verdict;

std::string counted_name(const std::string& name, uint64_t count) {
  return count == 0 ? name : std::to_string(count) + " x " + name;
}

/// By name, what the deployment runs with, as it may be shown.
std::map<std::string, std::string> inputs_of(const Deployment& d) {
  std::map<std::string, std::string> inputs;
  for (const auto& [name, setting] : effective_settings(d)) {
    inputs[name] = shown_value(name, setting.value, setting.known);
  }
  if (!d.model.empty()) inputs["model"] = d.model;
  if (d.gpu) inputs["gpu"] = counted_name(d.gpu->name, d.gpu_count);
  inputs["vllm"] = d.version.str() + (d.version_assumed ? " (assumed)" : "");
  if (d.start.replicas) inputs["replicas"] = std::to_string(d.start.replicas->value);
  return inputs;
}

std::vector<SettingChange> changed_settings(const Deployment& base, const Deployment& head) {
  std::map<std::string, SettingChange> changes;
  for (auto& [name, value] : inputs_of(base)) changes[name] = {name, value, std::nullopt};
  for (auto& [name, value] : inputs_of(head)) {
    changes[name].name = name;
    changes[name].head = value;
  }
  std::vector<SettingChange> result;
  for (auto& [name, change] : changes) {
    if (change.base != change.head) result.push_back(std::move(change));
  }
  return result;
}

std::optional<Interval3> value_of(const Figure& figure, const Deployment* d) {
  if (d == nullptr || !d->estimate) return std::nullopt;
  return figure.of(*d->estimate);
}

std::vector<FigureChange> changed_figures(const Deployment* base, const Deployment* head) {
  std::vector<FigureChange> result;
  for (const Figure& figure : figures()) {
    FigureChange change{&figure, value_of(figure, base), value_of(figure, head)};
    if (change.base != change.head) result.push_back(std::move(change));
  }
  return result;
}

// An engine that does not start is as bad as one that runs out of memory.
int badness(const Deployment& d) {
  if (!d.estimate) return 3;  // nobody can say any more what is shipped
  switch (d.estimate->verdict) {
    case Verdict::kStarts:
      return 0;
    case Verdict::kUnsure:
      return 1;
    default:
      return 2;
  }
}

// What generates no text keeps no cache; nothing about it can be lost.
bool is_judged(const Deployment& d) { return d.estimate.has_value() || d.missing.empty(); }

std::vector<Loss> losses_of(const DeploymentChange& change, double percent) {
  std::vector<Loss> losses;
  if (change.base == nullptr || change.head == nullptr || !is_judged(*change.head)) {
    const bool unjudged =
        change.base != nullptr && change.head != nullptr && is_judged(*change.base);
    if (unjudged) losses.push_back({"verdict", std::nullopt});
    return losses;
  }
  if (change.base->estimate && change.head->estimate &&
      badness(*change.head) > badness(*change.base)) {
    losses.push_back({"verdict", std::nullopt});
  }
  for (const FigureChange& figure : change.figures) {
    const std::optional<double> fall = figure.percent();
    if (figure.figure->is_service && fall && -*fall > percent) {
      losses.push_back({std::string(figure.figure->label), -*fall});
    }
  }
  return losses;
}

/// Findings of one deployment, or those of files, of each side.
struct FindingSets {
  Findings base, head;
};

using FindingKey = std::tuple<std::string, std::string, Severity>;

// Deployments are matched already, so a finding is known by its rule and what it is about; one that
// became an error is new.
FindingKey key_of(const Diagnostic& finding, const ComparedSide& side) {
  FindingIdentity identity = identity_of(finding, side.deployments);
  return {std::move(identity.rule), std::move(identity.subject), finding.severity};
}

/// Fills what only one side has, each as often as it has it more.
void compare_findings(const FindingSets& sets, const ComparedSide& base, const ComparedSide& head,
                      Findings& new_ones, Findings& gone) {
  std::map<FindingKey, size_t> known;
  for (const Diagnostic* finding : sets.base) ++known[key_of(*finding, base)];
  for (const Diagnostic* finding : sets.head) {
    size_t& left = known[key_of(*finding, head)];
    if (left == 0) new_ones.push_back(finding);
    if (left > 0) --left;
  }
  for (auto finding = sets.base.rbegin(); finding != sets.base.rend(); ++finding) {
    size_t& left = known[key_of(**finding, base)];
    if (left == 0) continue;
    gone.insert(gone.begin(), *finding);
    --left;
  }
}

// By deployment; those of files are in the last place.
std::vector<Findings> by_deployment(const ComparedSide& side) {
  std::vector<Findings> result(side.deployments.size() + 1);
  for (const Diagnostic& finding : side.findings) {
    const bool of_file = finding.deployment < 0;
    (of_file ? result.back() : result[static_cast<size_t>(finding.deployment)]).push_back(&finding);
  }
  return result;
}

bool says_nothing(const DeploymentChange& change) {
  const bool both = change.base != nullptr && change.head != nullptr;
  return both && change.figures.empty() && !change.verdict_differs() &&
         change.new_findings.empty() && change.gone_findings.empty();
}

}  // namespace

std::string_view verdict_text(const Deployment& deployment) {
  if (deployment.estimate) return memory::verdict_name(deployment.estimate->verdict);
  return deployment.missing.empty() ? "no KV cache" : "not judged";
}

bool DeploymentChange::verdict_differs() const {
  return base == nullptr || head == nullptr || verdict_text(*base) != verdict_text(*head);
}

size_t DiffReport::count_new() const {
  size_t count = new_findings.size();
  for (const DeploymentChange& change : changes) count += change.new_findings.size();
  return count;
}

size_t DiffReport::count_gone() const {
  size_t count = gone_findings.size();
  for (const DeploymentChange& change : changes) count += change.gone_findings.size();
  return count;
}

DiffReport compare(const ComparedSide& base, const ComparedSide& head,
                   std::optional<double> loss_percent) {
  DiffReport report;
  const std::vector<Findings> of_base = by_deployment(base);
  const std::vector<Findings> of_head = by_deployment(head);
  for (const Match& match :
       match_deployments({base.deployments, base.folder}, {head.deployments, head.folder})) {
    DeploymentChange change;
    FindingSets sets;
    if (match.base >= 0) change.base = &base.deployments[static_cast<size_t>(match.base)];
    if (match.head >= 0) change.head = &head.deployments[static_cast<size_t>(match.head)];
    if (match.base >= 0) sets.base = of_base[static_cast<size_t>(match.base)];
    if (match.head >= 0) sets.head = of_head[static_cast<size_t>(match.head)];
    change.figures = changed_figures(change.base, change.head);
    compare_findings(sets, base, head, change.new_findings, change.gone_findings);
    if (says_nothing(change)) {
      ++report.unchanged;
      continue;
    }
    if (change.base != nullptr && change.head != nullptr) {
      change.settings = changed_settings(*change.base, *change.head);
    }
    if (loss_percent) change.losses = losses_of(change, *loss_percent);
    report.changes.push_back(std::move(change));
  }
  compare_findings({of_base.back(), of_head.back()}, base, head, report.new_findings,
                   report.gone_findings);
  return report;
}

}  // namespace kvbudget
