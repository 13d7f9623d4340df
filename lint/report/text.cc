// For people and for editors: the shape that compilers use, `file:line:column: severity: message`.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lint/report/details.h"
#include "lint/report/report.h"
#include "lint/report/snippet.h"

namespace kvbudget {

namespace {

std::string_view severity_colour(Severity severity, const Palette& colours) {
  switch (severity) {
    case Severity::kError:
      return colours.error;
    case Severity::kWarning:
      return colours.warning;
    case Severity::kInfo:
      return colours.info;
  }
  return "";
}

void write_place(const Location& where, const Palette& colours, std::ostream& out) {
  if (!where) return;
  const Position at = where.file->position(where.range.begin);
  out << colours.bold << printable(where.file->path()) << ':' << at.line << ':' << at.column << ": "
      << colours.reset;
}

// The text to show below the caret: that of a fix which changes only the line of the finding.
std::string_view replacement_below(const Diagnostic& finding) {
  if (!finding.fix || finding.fix->edits.size() != 1) return {};
  const Edit& edit = finding.fix->edits[0];
  const bool same_place =
      edit.where.file == finding.where.file && edit.where.range.begin == finding.where.range.begin;
  return same_place ? std::string_view(edit.text) : std::string_view();
}

void write_note(const Note& note, const Palette& colours, std::ostream& out) {
  out << "  ";
  write_place(note.where, colours, out);
  out << colours.info << "note: " << colours.reset << printable(note.message) << '\n';
}

void write_finding(const Diagnostic& finding, const Palette& colours, std::ostream& out) {
  write_place(finding.where, colours, out);
  out << severity_colour(finding.severity, colours) << severity_name(finding.severity) << ": "
      << colours.reset << colours.bold << printable(finding.message) << colours.reset << " ["
      << finding.rule << "]\n";
  write_snippet(finding.where, replacement_below(finding), colours, out);
  for (const Note& note : finding.notes) write_note(note, colours, out);
  if (!finding.fix) return;
  out << "  " << colours.caret << "fix: " << colours.reset << printable(fix_text(*finding.fix))
      << '\n';
}

void write_summary(const Report& report, std::ostream& out) {
  std::set<std::string_view> files;
  for (const Diagnostic& finding : report.findings) {
    if (finding.where) files.insert(finding.where.file->path());
  }
  out << counts_text(report) << " in " << counted(files.size(), "file");
  if (report.baselined > 0) out << "; " << report.baselined << " more in the baseline";
  out << '\n';
}

// The rules that found most come first.
void write_statistics(const Report& report, std::ostream& out) {
  std::map<std::string_view, size_t> counts;
  std::map<std::string_view, std::string_view> names;
  for (const Diagnostic& finding : report.findings) {
    ++counts[finding.rule];
    names[finding.rule] = finding.name;
  }
  std::vector<std::pair<std::string_view, size_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [rule, count] : rows) {
    const std::string number = std::to_string(count);
    out << std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') << number << "  " << rule
        << "  " << names[rule] << '\n';
  }
}

void write_stale(const Report& report, std::ostream& out) {
  for (const std::string& entry : report.stale_baseline) {
    out << "baseline: no longer found: " << printable(entry) << '\n';
  }
  if (!report.stale_baseline.empty()) {
    out << "baseline: " << report.stale_baseline.size()
        << (report.stale_baseline.size() == 1 ? " entry is" : " entries are")
        << " stale; write it anew with --write-baseline\n";
  }
}

}  // namespace

void write_text(const Report& report, const TextStyle& style, std::ostream& out) {
  if (report.fixed > 0 && !style.quiet) {
    out << "applied " << counted(report.fixed, "fix") << '\n';
  }
  const Palette colours = palette(style.colour);
  for (const Diagnostic& finding : report.findings) write_finding(finding, colours, out);
  if (style.statistics) write_statistics(report, out);
  if (style.quiet) return;
  write_stale(report, out);
  if (!report.findings.empty()) write_summary(report, out);
}

}  // namespace kvbudget
