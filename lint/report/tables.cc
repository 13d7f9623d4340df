// What the program knows: its rules, GPUs and built-in models.
#include <algorithm>
#include <ostream>
#include <string>

#include "lint/engine/gpus.h"
#include "lint/memory/format.h"
#include "lint/models/catalogue.h"
#include "lint/report/columns.h"
#include "lint/report/report.h"

namespace kvbudget {

namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

std::string_view language(std::string_view example) {
  if (example.starts_with("#!")) return "sh";
  if (example.starts_with("FROM ")) return "dockerfile";
  return "yaml";
}

void write_example(std::string_view title, std::string_view heading, std::string_view example,
                   std::ostream& out) {
  const std::string_view text = trimmed(example);
  if (text.empty()) return;
  out << '\n'
      << heading << ' ' << title << "\n\n```" << language(text) << '\n'
      << text << "\n```\n";
}

// A rule's documentation is written with second-level headings; below a rule of a list they sink by
// one.
void write_doc(std::string_view doc, bool sink, std::ostream& out) {
  std::string_view rest = trimmed(doc);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (sink && line.starts_with("## ")) out << '#';
    out << line << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void write_rule(const Rule& rule, bool sink, std::ostream& out) {
  out << (sink ? "## " : "# ") << rule.id << ' ' << rule.name << "\n\n"
      << severity_name(rule.severity) << ": " << rule.summary << "\n\n";
  write_doc(rule.doc, sink, out);
  const std::string_view heading = sink ? "###" : "##";
  write_example("Bad", heading, rule.bad, out);
  write_example("Good", heading, rule.good, out);
}

}  // namespace

void write_rules_text(RuleTable rules, std::ostream& out) {
  size_t name_width = 0;
  for (const Rule* rule : rules) name_width = std::max(name_width, rule->name.size());
  for (const Rule* rule : rules) {
    out << rule->id << "  " << padded(severity_name(rule->severity), 7) << "  "
        << padded(rule->name, name_width) << "  " << rule->summary << '\n';
  }
}

void write_rules_markdown(RuleTable rules, std::ostream& out) {
  out << "# Rules\n\nWritten by `kvbudget rules --markdown`; the text of each rule stands in its "
         "source file.\n\n| id | name | severity | what it finds |\n|---|---|---|---|\n";
  for (const Rule* rule : rules) {
    out << "| " << rule->id << " | " << rule->name << " | " << severity_name(rule->severity)
        << " | " << rule->summary << " |\n";
  }
  for (const Rule* rule : rules) {
    out << '\n';
    write_rule(*rule, true, out);
  }
}

void write_explanation(const Rule& rule, std::ostream& out) { write_rule(rule, false, out); }

void write_gpus(std::ostream& out) {
  size_t name_width = 0;
  for (const Gpu& gpu : all_gpus()) name_width = std::max(name_width, gpu.name.size());
  for (const Gpu& gpu : all_gpus()) {
    out << padded(gpu.name, name_width) << "  " << padded(memory::gib_text(gpu.memory_bytes), 10);
    if (gpu.capability.major != 0) {
      out << "  compute " << int{gpu.capability.major} << '.' << int{gpu.capability.minor};
    }
    out << '\n';
  }
}

void write_models(std::ostream& out) {
  for (const std::string& id : catalogue_ids()) out << id << '\n';
}

}  // namespace kvbudget
