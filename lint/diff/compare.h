// What a change does: the two sides' deployments beside each other, in the numbers of their
// estimates, in the settings that cause them and in their findings. Nothing is computed anew.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"
#include "lint/diff/match.h"

namespace kvbudget {

struct Interval3 {
  double low = 0.0, best = 0.0, high = 0.0;
  bool operator==(const Interval3&) const = default;
};

/// A number of an estimate that the two sides are compared by.
struct Figure {
  enum class Unit { kGib, kCount, kRequests };
  std::string_view name;   ///< in JSON
  std::string_view label;  ///< for people
  bool plural = false;     ///< "KV tokens fall", "longest context falls"
  Unit unit = Unit::kCount;
  bool is_service = false;  ///< what requests get: a fall is a loss
  std::optional<Interval3> (*of)(const memory::Estimate&) = nullptr;
};
std::span<const Figure> figures();

struct FigureChange {
  const Figure* figure = nullptr;
  std::optional<Interval3> base, head;  ///< absent: no estimate, or none of that figure

  /// The best values are the same, and what is uncertain about them differs.
  bool ends_only() const { return base && head && base->best == head->best; }
  /// Of the best values; nullopt where there is no such number.
  std::optional<double> percent() const;
};

/// An input that differs: a setting in force, the model, the card. Absent: not said.
struct SettingChange {
  std::string name;
  std::optional<std::string> base, head;
};

struct Loss {
  std::string what;               ///< "KV tokens", "verdict"
  std::optional<double> percent;  ///< of the fall; absent for a verdict
};

using Findings = std::vector<const Diagnostic*>;

struct DeploymentChange {
  const Deployment* base = nullptr;  ///< null: added
  const Deployment* head = nullptr;  ///< null: removed
  std::vector<FigureChange> figures;
  std::vector<SettingChange> settings;
  Findings new_findings, gone_findings;
  std::vector<Loss> losses;

  const Deployment& either() const { return head != nullptr ? *head : *base; }
  bool verdict_differs() const;
};

struct ComparedSide {
  std::string name, commit, folder;
  std::vector<Deployment> deployments;
  std::vector<Diagnostic> findings;
};

struct DiffReport {
  std::vector<DeploymentChange> changes;  ///< only what differs
  size_t unchanged = 0;                   ///< deployments
  Findings new_findings, gone_findings;   ///< of files, not of deployments
  size_t count_new() const;
  size_t count_gone() const;
  bool empty() const { return changes.empty() && new_findings.empty() && gone_findings.empty(); }
};

/// `loss_percent`: a fall by more is a loss; nullopt: losses are not looked for. The report points
/// into the sides.
DiffReport compare(const ComparedSide& base, const ComparedSide& head,
                   std::optional<double> loss_percent);

/// "starts", "not judged".
std::string_view verdict_text(const Deployment& deployment);

}  // namespace kvbudget
