// GitLab's code quality report: the subset of the Code Climate format that merge requests show
// (docs.gitlab.com, "Code Quality report format").
//
// GitLab compares the reports of two branches by fingerprint and shows only the first finding of
// each, so they have to be unique and outlive moved lines.
#include <ostream>
#include <string_view>

#include "lint/report/details.h"
#include "lint/report/json.h"
#include "lint/report/report.h"

namespace kvbudget {

namespace {

// Errors keep an engine from starting; nothing here is a "blocker" of the merge, which the exit
// code decides.
std::string_view gitlab_severity(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "critical";
    case Severity::kWarning:
      return "minor";
    case Severity::kInfo:
      return "info";
  }
  return "";
}

Json location_json(const Location& where, const ReportFolders& folders) {
  // A path and a line are required; what stands in no file is shown at the top of the repository.
  if (!where) return {{"path", "."}, {"lines", {{"begin", 1}}}};
  const Position begin = where.file->position(where.range.begin);
  const Position end = where.file->position(where.range.end);
  return {{"path", path_below_root(folders, where.file->path())},
          {"lines", {{"begin", begin.line}, {"end", end.line}}}};
}

}  // namespace

void write_gitlab(const Report& report, std::ostream& out) {
  Json json = Json::array();
  for (const Diagnostic& finding : report.findings) {
    json.push_back({{"type", "issue"},
                    {"description", message_with_notes(finding, NotesShown::kAll)},
                    {"check_name", rule_title(finding)},
                    {"categories", Json::array({"Bug Risk"})},
                    {"fingerprint", finding.fingerprint},
                    {"severity", gitlab_severity(finding.severity)},
                    {"location", location_json(report.place_of(finding), report.folders)}});
  }
  print_json(json, out);
}

}  // namespace kvbudget
