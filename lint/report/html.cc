// A page for people: what was found, file by file, and what was understood of each engine.
//
// One file without scripts that fetches nothing, so that it can be kept as a build's artefact, sent
// around and opened anywhere; its own policy forbids everything but the style below, whatever texts
// of the linted files may hold.
#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "lint/memory/format.h"
#include "lint/report/details.h"
#include "lint/report/markup.h"
#include "lint/report/report.h"
#include "lint/report/snippet.h"

namespace kvbudget {

namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>kvbudget report</title>
<style>
:root { color-scheme: light dark; --line: #8886; --error: #c62828; --warning: #b26a00; --info: #1565c0; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
code, pre, .place { font-family: ui-monospace, monospace; font-size: 90%; }
pre { overflow-x: auto; padding: .5rem; border: 1px solid var(--line); }
article { border-left: .3rem solid; padding-left: .8rem; margin: 1rem 0; }
.error { border-color: var(--error); } .error b { color: var(--error); }
.warning { border-color: var(--warning); } .warning b { color: var(--warning); }
.info { border-color: var(--info); } .info b { color: var(--info); }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0;
border-bottom: 1px solid var(--line); vertical-align: top; } td.number { text-align: right; }
</style>
</head>
<body>
)";

std::string path_of(const Location& where, const Report& report) {
  return where ? path_below_root(report.folders, where.file->path()) : "command line";
}

std::string place_text(const Location& where, const Report& report) {
  std::string text = path_of(where, report);
  if (!where) return text;
  const Position at = where.file->position(where.range.begin);
  return text + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void write_notes(const Diagnostic& finding, const Report& report, std::ostream& out) {
  if (finding.notes.empty() && !finding.fix) return;
  out << "<ul>\n";
  for (const Note& note : finding.notes) {
    out << "<li>" << escaped(note.message);
    if (note.where)
      out << " <span class=\"place\">" << escaped(place_text(note.where, report)) << "</span>";
    out << "</li>\n";
  }
  if (finding.fix) out << "<li>fix: " << escaped(fix_text(*finding.fix)) << "</li>\n";
  out << "</ul>\n";
}

void write_finding(const Diagnostic& finding, const Report& report, std::ostream& out) {
  const std::string_view severity = severity_name(finding.severity);
  const Location where = report.place_of(finding);
  out << "<article class=\"" << severity << "\">\n<p><b>" << severity << "</b> "
      << escaped(finding.message) << " <a href=\""
      << escaped(rule_address(finding.rule, finding.name)) << "\">" << escaped(rule_title(finding))
      << "</a><br>\n<span class=\"place\">" << escaped(place_text(where, report))
      << "</span></p>\n";
  std::ostringstream snippet;
  write_snippet(finding.where, "", palette(false), snippet);
  // Line by line: an escaped line break would be none in every browser's copy.
  if (!snippet.str().empty()) {
    out << "<pre>";
    std::istringstream lines(snippet.str());
    for (std::string line; std::getline(lines, line);) out << escaped(line) << '\n';
    out << "</pre>\n";
  }
  write_notes(finding, report, out);
  out << "</article>\n";
}

// Findings are sorted by place, so that those of a file follow each other.
void write_findings_by_file(const Report& report, std::ostream& out) {
  std::string shown;
  for (const Diagnostic& finding : report.findings) {
    const std::string path = path_of(report.place_of(finding), report);
    if (path != shown) out << "<h2>" << escaped(path) << "</h2>\n";
    shown = path;
    write_finding(finding, report, out);
  }
}

std::string gpus_text(const Deployment& d) {
  if (!d.gpu) return "not known";
  return (d.gpu_count == 0 ? "" : std::to_string(d.gpu_count) + " x ") + d.gpu->name;
}

std::string verdict_text(const Deployment& d) {
  if (!d.estimate) return missing_text(d);
  std::string text = memory::verdict_name(d.estimate->verdict);
  std::replace(text.begin(), text.end(), '_', ' ');
  return d.estimate->because.empty() ? text : text + ": " + d.estimate->because;
}

void write_engine(const Deployment& d, const Report& report, std::ostream& out) {
  const auto cell = [&](std::string_view text) { out << "<td>" << escaped(text) << "</td>"; };
  const auto number = [&](const std::string& text) {
    out << "<td class=\"number\">" << escaped(text) << "</td>";
  };
  out << "<tr>";
  cell(place_text(d.start.where, report));
  cell(d.start.kind + " " + d.start.name);
  cell(d.model.empty() ? "not known" : d.model);
  cell(gpus_text(d));
  cell(d.version.str() + (d.version_assumed ? " (assumed)" : ""));
  number(d.estimate ? memory::with_commas(d.estimate->best.tokens) : "");
  number(d.estimate ? memory::decimal_text(d.estimate->best.max_concurrency, 2) + " of " +
                          memory::with_commas(d.estimate->max_model_len) + " tokens"
                    : "");
  cell(verdict_text(d));
  out << "</tr>\n";
}

void write_engines(const Report& report, std::ostream& out) {
  if (report.deployments.empty()) return;
  out << "<h2>Engines</h2>\n<table>\n<tr><th>place</th><th>engine</th><th>model</th><th>GPUs</th>"
         "<th>vLLM</th><th>KV cache tokens</th><th>requests</th><th>verdict</th></tr>\n";
  for (const Deployment& d : report.deployments) write_engine(d, report, out);
  out << "</table>\n";
}

}  // namespace

void write_html(const Report& report, std::ostream& out) {
  const std::string counts = counts_text(report);
  out << kHead << "<h1>kvbudget</h1>\n<p>" << (counts.empty() ? "no findings" : counts) << " in "
      << counted(report.files, "file") << ", " << counted(report.deployments.size(), "engine")
      << "; kvbudget " << KVB_VERSION;
  if (report.baselined > 0) out << "; " << report.baselined << " more in the baseline";
  out << "</p>\n";
  write_findings_by_file(report, out);
  write_engines(report, out);
  out << "</body>\n</html>\n";
}

}  // namespace kvbudget
