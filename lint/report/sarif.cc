// SARIF 2.1.0 (OASIS, with errata 01), as code scanning services read it.
//
// Columns count Unicode code points, as everywhere here, and the run says so (columnKind). Places
// are relative to the root of the repository. What a service does not take is left out, the least
// severe first, and said in a notification; the limits are those of GitHub, "SARIF results exceed
// one or more limits" and "SARIF support for code scanning" (docs.github.com, November 2026).
#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lint/memory/format.h"
#include "lint/read/text.h"
#include "lint/report/details.h"
#include "lint/report/json.h"
#include "lint/report/report.h"
#include "lint/report/utf8.h"

namespace kvbudget {

namespace {

constexpr size_t kMaxResults = 25000;
// GitHub takes 10 MB after gzip. Results of one tool repeat themselves and shrink to a tenth and
// less, so these bytes stay below it.
constexpr size_t kMaxResultBytes = size_t{64} << 20;
// Of rule descriptions, which are cut off when they are longer.
constexpr size_t kMaxDescription = 1024;
// Of messages: what a file says may stand in them, at any length.
constexpr size_t kMaxMessage = 4096;

constexpr const char* kSchemaUri =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

std::string_view level(Severity severity) {
  return severity == Severity::kInfo ? "note" : severity_name(severity);
}

Json text_json(std::string_view text, size_t limit = kMaxMessage) {
  return {{"text", shortened(text, limit)}};
}

// The first section of a rule's documentation, "What it does", as one line.
std::string first_section(std::string_view doc) {
  std::string_view text = trimmed(doc, "\n ");
  if (text.starts_with("## ")) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  text = trimmed(text.substr(0, text.find("\n## ")), "\n ");
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

Json rule_json(const Rule& rule) {
  std::ostringstream help;
  write_explanation(rule, help);
  const bool info = rule.severity == Severity::kInfo;
  const std::string full = first_section(rule.doc);
  return {{"id", rule.id},
          {"name", rule.name},
          {"shortDescription", text_json(rule.summary, kMaxDescription)},
          {"fullDescription", text_json(full.empty() ? rule.summary : full, kMaxDescription)},
          {"help", {{"text", help.str()}, {"markdown", help.str()}}},
          {"helpUri", rule_address(rule.id, rule.name)},
          {"defaultConfiguration", {{"level", level(rule.severity)}}},
          {"properties",
           {{"tags", {"vllm", "deployment"}},
            {"problem.severity", info ? "recommendation" : severity_name(rule.severity)}}}};
}

/// The parts of a run that look the same whatever they are about.
class Writer {
 public:
  explicit Writer(const Report& report) : report_(report) {
    for (size_t i = 0; i < report.rules.size(); ++i) rule_index_[report.rules[i]->id] = i;
  }

  Json result(const Diagnostic& finding) const {
    Json json = {{"ruleId", finding.rule}};
    const auto index = rule_index_.find(finding.rule);
    if (index != rule_index_.end()) json["ruleIndex"] = index->second;
    json["level"] = level(finding.severity);
    json["message"] = text_json(message_with_notes(finding, NotesShown::kUnplaced));
    json["locations"] = Json::array();
    if (const Location where = report_.place_of(finding)) {
      json["locations"].push_back({{"physicalLocation", physical_location(where)}});
    }
    Json related = related_locations(finding);
    if (!related.empty()) json["relatedLocations"] = std::move(related);
    json["partialFingerprints"] = {{"kvbudget/v1", finding.fingerprint}};
    Json changes = finding.fix ? artifact_changes(*finding.fix) : Json::array();
    if (!changes.empty()) {
      json["fixes"] = {{{"description", text_json(fix_text(*finding.fix))},
                        {"artifactChanges", std::move(changes)}}};
    }
    return json;
  }

 private:
  Json artifact(const SourceFile& file) const {
    return {{"uri", uri_of(report_.folders, file.path())}};
  }

  static Json region(const Location& where) {
    const Position begin = where.file->position(where.range.begin);
    const Position end = where.file->position(where.range.end);
    return {{"startLine", begin.line},
            {"startColumn", begin.column},
            {"endLine", end.line},
            {"endColumn", end.column}};
  }

  Json physical_location(const Location& where) const {
    return {{"artifactLocation", artifact(*where.file)}, {"region", region(where)}};
  }

  Json related_locations(const Diagnostic& finding) const {
    Json json = Json::array();
    for (const Note& note : finding.notes) {
      if (!note.where) continue;
      json.push_back({{"id", json.size()},
                      {"message", text_json(note.message)},
                      {"physicalLocation", physical_location(note.where)}});
    }
    return json;
  }

  /// Nothing for a fix that changes what stands in no file: half of it would be wrong.
  Json artifact_changes(const Fix& fix) const {
    std::map<const SourceFile*, size_t> index;
    Json json = Json::array();
    for (const Edit& edit : fix.edits) {
      if (!edit.where) return Json::array();
      const auto [file, added] = index.emplace(edit.where.file, json.size());
      if (added) {
        json.push_back(
            {{"artifactLocation", artifact(*edit.where.file)}, {"replacements", Json::array()}});
      }
      json[file->second]["replacements"].push_back(
          {{"deletedRegion", region(edit.where)}, {"insertedContent", {{"text", edit.text}}}});
    }
    return json;
  }

  const Report& report_;
  std::map<std::string_view, size_t> rule_index_;
};

std::vector<size_t> most_severe_first(const std::vector<Diagnostic>& findings) {
  std::vector<size_t> order(findings.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return findings[a].severity > findings[b].severity; });
  return order;
}

/// As many results as are taken, in the order of the report.
Json results_json(const Report& report) {
  const Writer writer(report);
  std::vector<std::pair<size_t, Json>> kept;
  size_t bytes = 0;
  for (const size_t index : most_severe_first(report.findings)) {
    if (kept.size() == kMaxResults) break;
    Json result = writer.result(report.findings[index]);
    bytes += result.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (bytes > kMaxResultBytes) break;
    kept.emplace_back(index, std::move(result));
  }
  std::sort(kept.begin(), kept.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Json results = Json::array();
  for (auto& [index, result] : kept) results.push_back(std::move(result));
  return results;
}

Json notification(std::string_view text) {
  return {{"level", "warning"}, {"message", text_json(text)}};
}

Json invocation_json(const Report& report, size_t results) {
  Json json = {{"executionSuccessful", report.complete}};
  Json notifications = Json::array();
  if (results < report.findings.size()) {
    notifications.push_back(notification(
        memory::with_commas(results) + " of " + memory::with_commas(report.findings.size()) +
        " findings are shown, the most severe first: code scanning takes no more in one run"));
  }
  for (const std::string& entry : report.stale_baseline) {
    notifications.push_back(notification("the baseline holds a finding that is gone: " + entry));
  }
  if (!notifications.empty()) json["toolExecutionNotifications"] = std::move(notifications);
  return json;
}

}  // namespace

void write_sarif(const Report& report, std::ostream& out) {
  Json rules = Json::array();
  for (const Rule* rule : report.rules) rules.push_back(rule_json(*rule));
  Json results = results_json(report);
  Json run;
  run["tool"]["driver"] = {{"name", "kvbudget"},
                           {"version", KVB_VERSION},
                           {"semanticVersion", KVB_VERSION},
                           {"informationUri", KVB_HOMEPAGE},
                           {"rules", std::move(rules)}};
  run["invocations"] = Json::array({invocation_json(report, results.size())});
  run["columnKind"] = "unicodeCodePoints";
  run["newlineSequences"] = {"\r\n", "\n", "\r"};
  run["results"] = std::move(results);
  print_json({{"$schema", kSchemaUri}, {"version", "2.1.0"}, {"runs", {std::move(run)}}}, out);
}

}  // namespace kvbudget
