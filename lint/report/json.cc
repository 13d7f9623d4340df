#include "lint/report/json.h"

#include <cmath>
#include <ostream>
#include <string>

#include "lint/report/report.h"

namespace kvbudget {

void print_json(const Json& json, std::ostream& out) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(std::string(text)); }

Json file_of(const Location& where) { return where ? Json(where.file->path()) : Json(); }

void add_position(Json& json, const Location& where) {
  json["line"] = nullptr;
  json["column"] = nullptr;
  if (!where) return;
  const Position at = where.file->position(where.range.begin);
  json["line"] = at.line;
  json["column"] = at.column;
}

double hundredths(double value) { return std::round(value * 100) / 100; }

Json count_or_null(uint64_t count) { return count == 0 ? Json() : Json(count); }

namespace {

Json note_json(const Note& note) {
  Json json = {{"message", note.message}, {"file", file_of(note.where)}};
  add_position(json, note.where);
  return json;
}

Json edit_json(const Edit& edit) {
  const SourceFile& file = *edit.where.file;
  const Position begin = file.position(edit.where.range.begin);
  const Position end = file.position(edit.where.range.end);
  return {{"file", file.path()},  {"start_line", begin.line}, {"start_column", begin.column},
          {"end_line", end.line}, {"end_column", end.column}, {"text", edit.text}};
}

Json fix_json(const Fix& fix) {
  Json edits = Json::array();
  for (const Edit& edit : fix.edits) {
    if (edit.where) edits.push_back(edit_json(edit));
  }
  return {{"safety", fix.safe ? "safe" : "unsafe"},
          {"description", fix.description},
          {"edits", std::move(edits)}};
}

}  // namespace

Json finding_json(const Diagnostic& finding) {
  Json json = {{"rule", finding.rule},
               {"name", finding.name},
               {"severity", severity_name(finding.severity)},
               {"file", file_of(finding.where)}};
  add_position(json, finding.where);
  json["end_line"] = nullptr;
  json["end_column"] = nullptr;
  if (finding.where) {
    const Position end = finding.where.file->position(finding.where.range.end);
    json["end_line"] = end.line;
    json["end_column"] = end.column;
  }
  json["message"] = finding.message;
  json["notes"] = Json::array();
  for (const Note& note : finding.notes) json["notes"].push_back(note_json(note));
  json["deployment"] = finding.deployment < 0 ? Json() : Json(finding.deployment);
  json["fix"] = finding.fix ? fix_json(*finding.fix) : Json();
  json["fingerprint"] = text_or_null(finding.fingerprint);
  return json;
}

namespace {

Json summary_json(const Report& report) {
  return {{"files", report.files},
          {"deployments", report.deployments.size()},
          {"errors", report.count(Severity::kError)},
          {"warnings", report.count(Severity::kWarning)},
          {"infos", report.count(Severity::kInfo)},
          {"fixed", report.fixed},
          {"baselined", report.baselined}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  Json json = {{"schema", kJsonSchema}, {"tool", {{"name", "kvbudget"}, {"version", KVB_VERSION}}}};
  json["deployments"] = Json::array();
  for (const Deployment& deployment : report.deployments) {
    json["deployments"].push_back(deployment_json(deployment));
  }
  json["findings"] = Json::array();
  for (const Diagnostic& finding : report.findings) {
    json["findings"].push_back(finding_json(finding));
  }
  json["summary"] = summary_json(report);
  print_json(json, out);
}

}  // namespace kvbudget
