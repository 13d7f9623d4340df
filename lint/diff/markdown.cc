// A comment for a review: what gets worse first, one line a fact, and never longer than a reader
// takes in (GitHub cuts comments off at 65,536 characters).
//
// Names and messages come from the files of a change that anybody may have proposed, so nothing in
// them may act as Markdown, HTML, a mention or a reference.
#include <algorithm>
#include <ostream>
#include <sstream>
#include <string_view>

#include "lint/diff/writers.h"
#include "lint/report/report.h"
#include "lint/report/snippet.h"
#include "lint/report/utf8.h"

namespace kvbudget {
namespace {

constexpr std::string_view kMark = "<!-- kvbudget diff -->";
constexpr size_t kMostDeployments = 20;
constexpr size_t kMostSettings = 6;
constexpr size_t kMostFindings = 10;
constexpr size_t kMostTextPoints = 400;
constexpr size_t kMostBytes = 20000;  // the findings of files come behind

// Letters, digits and what prose is made of stay; everything else becomes a character reference.
std::string escaped(std::string_view text) {
  constexpr std::string_view kPlain = " ,.;:()/=+-%'\"";
  std::string result;
  for (const char c : printable(shortened(text, kMostTextPoints))) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        byte >= 0x80 || std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos;
    result += plain ? std::string(1, c) : "&#" + std::to_string(byte) + ";";
  }
  return result;
}

// Between backticks nothing acts but a backtick.
std::string code(std::string_view text) {
  std::string clean = printable(shortened(text, kMostTextPoints));
  std::replace(clean.begin(), clean.end(), '`', '\'');
  return "`" + clean + "`";
}

std::string value_code(const std::optional<std::string>& value) {
  return value && !value->empty() ? code(*value) : "unset";
}

void write_heading(const DeploymentChange& change, std::ostream& out) {
  const Deployment& d = change.either();
  out << "\n**" << code(deployment_name(d)) << "**";
  if (const Location& where = d.start.where) out << " in " << code(where.file->path());
  if (change.base == nullptr) out << " (added)";
  if (change.base == nullptr && !d.model.empty()) out << ": " << code(d.model);
  if (change.head == nullptr) out << " (removed)";
  for (size_t i = 0; i < std::min(change.settings.size(), kMostSettings); ++i) {
    const SettingChange& setting = change.settings[i];
    out << (i == 0 ? ": " : ", ") << escaped(setting.name) << ' ' << value_code(setting.base)
        << " → " << value_code(setting.head);
  }
  if (change.settings.size() > kMostSettings) {
    out << " and " << change.settings.size() - kMostSettings << " more settings";
  }
  out << "\n\n";
}

void write_verdict(const DeploymentChange& change, std::ostream& out) {
  if (change.head == nullptr || !change.verdict_differs()) return;
  const Deployment& d = *change.head;
  out << "- **";
  if (change.base != nullptr) out << escaped(verdict_text(*change.base)) << " → ";
  out << escaped(verdict_text(d)) << "**";
  const std::string why = d.estimate ? d.estimate->because : missing_text(d);
  if (!why.empty()) out << ": " << escaped(why);
  out << '\n';
}

std::string verb_of(const FigureChange& change) {
  const bool plural = change.figure->plural;
  if (change.ends_only()) return plural ? "change" : "changes";
  if (change.head->best < change.base->best) return plural ? "fall" : "falls";
  return plural ? "rise" : "rises";
}

void write_figure(const FigureChange& change, std::ostream& out) {
  const auto [base, head] = figure_texts(change);
  out << "- " << change.figure->label;
  if (change.base && change.head) {
    out << ' ' << verb_of(change) << " from " << base << " to " << head;
  } else {
    out << ": " << (change.head ? head : "was " + base);
  }
  const std::string percent = percent_text(change);
  if (!percent.empty()) out << " (" << percent << ')';
  out << '\n';
}

// Of an added deployment what it serves; its terms are in no relation to anything. Intervals that
// alone differ are worth a line only where there is nothing else to say.
void write_figures(const DeploymentChange& change, std::ostream& out) {
  if (change.head == nullptr) return;
  const std::vector<const FigureChange*> all = figures_for_people(change);
  const bool best_differs = change.verdict_differs() ||
                            std::any_of(all.begin(), all.end(), [](const FigureChange* figure) {
                              return !figure->ends_only();
                            });
  for (const FigureChange* figure : all) {
    if (change.base == nullptr && !figure->figure->is_service) continue;
    if (figure->ends_only() && best_differs) continue;
    write_figure(*figure, out);
  }
}

void write_findings(std::string_view what, const Findings& findings, std::ostream& out) {
  for (size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    const Diagnostic& finding = *findings[i];
    out << "- " << what << ' ' << severity_name(finding.severity) << ' ' << finding.rule << ": "
        << escaped(finding.message) << '\n';
  }
  if (findings.size() > kMostFindings) {
    out << "- " << what << ": " << findings.size() - kMostFindings << " more\n";
  }
}

void write_change(const DeploymentChange& change, std::ostream& out) {
  write_heading(change, out);
  write_verdict(change, out);
  for (const Loss& loss : change.losses) out << "- **loss**: " << escaped(loss_text(loss)) << '\n';
  write_figures(change, out);
  write_findings("new", change.new_findings, out);
  if (change.head != nullptr) write_findings("gone", change.gone_findings, out);
}

// Losses first, then findings, then the rest in its order.
std::vector<const DeploymentChange*> worst_first(const DiffReport& report) {
  std::vector<const DeploymentChange*> order;
  for (const DeploymentChange& change : report.changes) order.push_back(&change);
  const auto rank = [](const DeploymentChange* change) {
    return std::pair(change->losses.empty(), change->new_findings.empty());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  return order;
}

// As many as fit into one comment.
void write_changes(const std::vector<const DeploymentChange*>& order, std::ostream& out) {
  size_t shown = 0;
  size_t bytes = 0;
  while (shown < std::min(order.size(), kMostDeployments)) {
    std::ostringstream one;
    write_change(*order[shown], one);
    bytes += one.str().size();
    if (bytes > kMostBytes) break;
    out << one.str();
    ++shown;
  }
  if (shown < order.size()) out << "\nand " << order.size() - shown << " more deployments\n";
}

}  // namespace

void write_diff_markdown(const DiffView& view, std::ostream& out) {
  const DiffReport& report = view.report;
  if (report.empty()) {
    out << "kvbudget: no change to memory, KV cache or findings " << kMark << '\n';
    return;
  }
  out << "### kvbudget: " << diff_summary(report) << ' ' << kMark << '\n';
  write_changes(worst_first(report), out);
  if (!report.new_findings.empty() || !report.gone_findings.empty()) out << '\n';
  write_findings("new", report.new_findings, out);
  write_findings("gone", report.gone_findings, out);
  out << "\n<sub>" << escaped(side_name(view.base)) << " → " << escaped(side_name(view.head))
      << "</sub>\n";
}

}  // namespace kvbudget
