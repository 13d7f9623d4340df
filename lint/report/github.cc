// Workflow commands of GitHub Actions: the runner turns each line of a job's log into an annotation
// of the file. Escapes as in actions/toolkit, packages/core/src/command.ts.
//
// GitHub shows ten errors and ten warnings of a step; SARIF has no such limit.
#include <ostream>
#include <string>
#include <string_view>

#include "lint/report/details.h"
#include "lint/report/report.h"
#include "lint/report/utf8.h"

namespace kvbudget {

namespace {

enum class Part { kProperty, kMessage };

std::string escaped(std::string_view text, Part part) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\r') {
      result += "%0D";
    } else if (c == '\n') {
      result += "%0A";
    } else if (c == ':' && part == Part::kProperty) {
      result += "%3A";
    } else if (c == ',' && part == Part::kProperty) {
      result += "%2C";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string_view command(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "notice";
  }
  return "";
}

void write_place(const Location& where, const ReportFolders& folders, std::ostream& out) {
  const Position begin = where.file->position(where.range.begin);
  const Position end = where.file->position(where.range.end);
  out << " file=" << escaped(path_below_root(folders, where.file->path()), Part::kProperty)
      << ",line=" << begin.line;
  // GitHub takes columns only where the range stays in one line.
  if (begin.line == end.line) {
    out << ",col=" << begin.column << ",endLine=" << end.line << ",endColumn=" << end.column << ',';
  } else {
    out << ",endLine=" << end.line << ',';
  }
}

}  // namespace

void write_github(const Report& report, std::ostream& out) {
  for (const Diagnostic& finding : report.findings) {
    out << "::" << command(finding.severity);
    const Location where = report.place_of(finding);
    if (where) {
      write_place(where, report.folders, out);
    } else {
      out << ' ';
    }
    out << "title=" << escaped(rule_title(finding), Part::kProperty)
        << "::" << escaped(message_with_notes(finding, NotesShown::kAll), Part::kMessage) << '\n';
  }
}

}  // namespace kvbudget
