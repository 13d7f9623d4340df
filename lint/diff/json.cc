// Both sides of each deployment as `estimate --json` shows them, and what differs between them.
#include "lint/report/json.h"

#include "lint/diff/writers.h"

namespace kvbudget {
namespace {

Json value_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

Json number_or_null(const std::optional<Interval3>& value, Figure::Unit unit) {
  if (!value) return nullptr;
  if (unit == Figure::Unit::kRequests) return hundredths(value->best);
  return static_cast<int64_t>(value->best);
}

Json figures_json(const DeploymentChange& change) {
  Json json = Json::array();
  for (const FigureChange& figure : change.figures) {
    const Figure::Unit unit = figure.figure->unit;
    const std::optional<double> percent = figure.percent();
    json.push_back({{"name", figure.figure->name},
                    {"base", number_or_null(figure.base, unit)},
                    {"head", number_or_null(figure.head, unit)},
                    {"percent", percent ? Json(hundredths(*percent)) : Json()}});
  }
  return json;
}

Json settings_json(const DeploymentChange& change) {
  Json json = Json::array();
  for (const SettingChange& setting : change.settings) {
    json.push_back({{"name", setting.name},
                    {"base", value_or_null(setting.base)},
                    {"head", value_or_null(setting.head)}});
  }
  return json;
}

// The index of a deployment counts in a list that is not shown here.
Json findings_json(const Findings& new_ones, const Findings& gone) {
  Json json = {{"new", Json::array()}, {"gone", Json::array()}};
  for (const auto& [key, findings] : {std::pair("new", &new_ones), std::pair("gone", &gone)}) {
    for (const Diagnostic* finding : *findings) {
      Json one = finding_json(*finding);
      one.erase("deployment");
      json[key].push_back(std::move(one));
    }
  }
  return json;
}

Json losses_json(const DeploymentChange& change) {
  Json json = Json::array();
  for (const Loss& loss : change.losses) {
    json.push_back({{"what", loss.what},
                    {"percent", loss.percent ? Json(hundredths(*loss.percent)) : Json()}});
  }
  return json;
}

Json change_json(const DeploymentChange& change) {
  const bool both = change.base != nullptr && change.head != nullptr;
  const char* one = change.base == nullptr ? "added" : "removed";
  return {{"kind", change.either().start.kind},
          {"name", change.either().start.name},
          {"change", both ? "changed" : one},
          {"base", change.base == nullptr ? Json() : estimate_json_in_file(*change.base)},
          {"head", change.head == nullptr ? Json() : estimate_json_in_file(*change.head)},
          {"figures", figures_json(change)},
          {"settings", settings_json(change)},
          {"findings", findings_json(change.new_findings, change.gone_findings)},
          {"losses", losses_json(change)}};
}

Json side_json(const ComparedSide& side) {
  return {{"name", side.name}, {"commit", text_or_null(side.commit)}};
}

}  // namespace

void write_diff_json(const DiffView& view, std::ostream& out) {
  const DiffReport& report = view.report;
  Json json = {{"schema", kJsonSchema},
               {"tool", {{"name", "kvbudget"}, {"version", KVB_VERSION}}},
               {"base", side_json(view.base)},
               {"head", side_json(view.head)},
               {"deployments", Json::array()}};
  size_t losing = 0;
  for (const DeploymentChange& change : report.changes) {
    json["deployments"].push_back(change_json(change));
    losing += change.losses.empty() ? 0 : 1;
  }
  json["findings"] = findings_json(report.new_findings, report.gone_findings);
  json["summary"] = {{"differing", report.changes.size()},
                     {"unchanged", report.unchanged},
                     {"losing", losing},
                     {"new_findings", report.count_new()},
                     {"gone_findings", report.count_gone()}};
  print_json(json, out);
}

}  // namespace kvbudget
