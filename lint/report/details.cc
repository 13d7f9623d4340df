#include "lint/report/details.h"

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

std::string rule_title(const Diagnostic& finding) {
  return std::string(finding.rule) + " " + std::string(finding.name);
}

}  // namespace kvbudget
