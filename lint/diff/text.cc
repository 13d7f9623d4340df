// Each deployment that changes, with the rows that differ, old value before new.
#include <algorithm>
#include <ostream>

#include "lint/diff/writers.h"
#include "lint/report/columns.h"
#include "lint/report/report.h"
#include "lint/report/snippet.h"

namespace kvbudget {
namespace {

struct Row {
  std::string name, base, head, remark;
};

void write_heading(const DeploymentChange& change, std::ostream& out) {
  if (change.base == nullptr) out << "added: ";
  if (change.head == nullptr) out << "removed: ";
  const Deployment& d = change.either();
  if (const Location& where = d.start.where) {
    out << printable(where.file->path()) << ':' << where.file->position(where.range.begin).line
        << ": ";
  }
  out << d.start.kind << ' ' << printable(d.start.name);
  if (!d.model.empty()) out << ": " << printable(d.model);
  out << '\n';
}

Row verdict_row(const DeploymentChange& change) {
  const auto text = [](const Deployment* d) {
    return d == nullptr ? std::string("-") : std::string(verdict_text(*d));
  };
  return {"verdict", text(change.base), text(change.head), ""};
}

// What both sides have; of an added or removed deployment the one that there is.
void write_rows(const std::vector<Row>& rows, bool both, std::ostream& out) {
  size_t name_width = 0, base_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    base_width = std::max(base_width, row.base.size());
  }
  for (const Row& row : rows) {
    out << "  " << padded(row.name, name_width + 2);
    if (both) out << std::string(base_width - row.base.size(), ' ') << row.base << " -> ";
    out << row.head;
    if (!row.remark.empty()) out << "  (" << row.remark << ')';
    out << '\n';
  }
}

void write_settings(const std::vector<SettingChange>& settings, std::ostream& out) {
  for (const SettingChange& setting : settings) {
    out << "  " << setting.name << ": " << printable(setting.base.value_or("(not set)")) << " -> "
        << printable(setting.head.value_or("(not set)")) << '\n';
  }
}

void write_findings(std::string_view what, const Findings& findings, std::string_view indent,
                    std::ostream& out) {
  for (const Diagnostic* finding : findings) {
    out << indent << what << ": " << severity_name(finding->severity) << ": "
        << printable(finding->message) << " [" << finding->rule << ']';
    if (finding->where) {
      const SourceFile& file = *finding->where.file;
      out << " at " << printable(file.path()) << ':'
          << file.position(finding->where.range.begin).line;
    }
    out << '\n';
  }
}

// Why the new verdict is what it is, where it differs.
void write_reason(const DeploymentChange& change, std::ostream& out) {
  if (change.head == nullptr || !change.verdict_differs()) return;
  const Deployment& d = *change.head;
  const std::string why = d.estimate ? d.estimate->because : missing_text(d);
  if (!why.empty()) out << "  " << printable(why) << '\n';
}

void write_change(const DeploymentChange& change, std::ostream& out) {
  write_heading(change, out);
  if (change.head == nullptr) return;
  write_settings(change.settings, out);
  std::vector<Row> rows;
  if (change.verdict_differs()) rows.push_back(verdict_row(change));
  for (const FigureChange* figure : figures_for_people(change)) {
    const auto [base, head] = figure_texts(*figure);
    rows.push_back({std::string(figure->figure->label), base, head, percent_text(*figure)});
  }
  write_rows(rows, change.base != nullptr, out);
  write_reason(change, out);
  write_findings("new", change.new_findings, "  ", out);
  write_findings("gone", change.gone_findings, "  ", out);
  for (const Loss& loss : change.losses) out << "  loss: " << loss_text(loss) << '\n';
}

}  // namespace

void write_diff_text(const DiffView& view, std::ostream& out) {
  const DiffReport& report = view.report;
  if (report.empty()) return;
  for (const DeploymentChange& change : report.changes) {
    write_change(change, out);
    out << '\n';
  }
  write_findings("new", report.new_findings, "", out);
  write_findings("gone", report.gone_findings, "", out);
  out << printable(side_name(view.base)) << " -> " << printable(side_name(view.head)) << ": "
      << diff_summary(report) << '\n';
}

}  // namespace kvbudget
