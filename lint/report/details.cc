#include "lint/report/details.h"

#include "lint/read/text.h"

namespace kvbudget {

std::string message_with_notes(const Diagnostic& finding, NotesShown shown) {
  std::string text = finding.message;
  for (const Note& note : finding.notes) {
    if (note.where && shown == NotesShown::kUnplaced) continue;
    text += '\n';
    if (note.where) {
      text += note.where.file->path() + ':' +
              std::to_string(note.where.file->position(note.where.range.begin).line) + ": ";
    }
    text += note.message;
  }
  if (finding.fix && shown == NotesShown::kAll) text += "\nfix: " + fix_text(*finding.fix);
  return text;
}

std::string fix_text(const Fix& fix) {
  return fix.description + (fix.safe ? "" : " (changes what the service does)");
}

std::string counted(size_t count, std::string_view noun) {
  const char* plural = noun.ends_with('x') ? "es" : "s";
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : plural);
}

std::string counts_text(const Report& report) {
  std::string text;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
    const size_t count = report.count(severity);
    if (count > 0) text += (text.empty() ? "" : ", ") + counted(count, severity_name(severity));
  }
  return text;
}

std::string rule_address(std::string_view id, std::string_view name) {
  return std::string(KVB_HOMEPAGE) + "/blob/main/rules/README.md#" + lower(id) + "-" +
         std::string(name);
}

std::string rule_title(const Diagnostic& finding) {
  return std::string(finding.rule) + " " + std::string(finding.name);
}

}  // namespace kvbudget
