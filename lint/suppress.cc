#include "lint/suppress.h"

#include <algorithm>
#include <map>
#include <optional>

namespace kvbudget {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text;
}

bool consume(std::string_view& text, std::string_view word) {
  text = trim_left(text);
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool is_comment(std::string_view line) { return trim_left(line).starts_with("#"); }

// The rules that the comment at the start of `text` names, nullopt when it is another comment.
std::optional<std::vector<std::string>> ignored_rules(std::string_view text) {
  if (!consume(text, "#") || !consume(text, "kvbudget:") || !consume(text, "ignore")) {
    return std::nullopt;
  }
  // Names hold single dashes, the reason follows a double one.
  text = text.substr(0, text.find("--"));
  std::vector<std::string> rules;
  constexpr std::string_view kSeparators = ", \t\r";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) return rules;
    const size_t end = std::min(text.find_first_of(kSeparators), text.size());
    rules.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// The lines that a comment on `line` stands for.
Suppression covered_lines(const SourceFile& file, uint32_t line, bool own_line) {
  Suppression covered{"", line, line};
  if (!own_line) return covered;
  while (line < file.line_count() && is_comment(file.line_text(line))) ++line;
  covered.first_line = line;
  while (line < file.line_count() && file.line_text(line).ends_with('\\')) ++line;
  covered.last_line = line;
  return covered;
}

}  // namespace

std::vector<Suppression> read_suppressions(const SourceFile& file) {
  std::vector<Suppression> result;
  constexpr std::string_view kMarker = "kvbudget:";
  const std::string_view bytes = file.bytes();
  for (size_t at = bytes.find(kMarker); at != std::string_view::npos;
       at = bytes.find(kMarker, at + 1)) {
    const uint32_t line = file.position(static_cast<uint32_t>(at)).line;
    const std::string_view text = file.line_text(line);
    const size_t hash = text.rfind('#', at - file.line_start(line));
    if (hash == std::string_view::npos) continue;
    const auto rules = ignored_rules(text.substr(hash));
    if (!rules) continue;
    Suppression covered = covered_lines(file, line, is_comment(text));
    for (const std::string& rule : *rules) {
      covered.rule = rule;
      result.push_back(covered);
    }
  }
  return result;
}

void suppress(std::vector<Diagnostic>& findings) {
  std::map<const SourceFile*, std::vector<Suppression>> by_file;
  std::erase_if(findings, [&](const Diagnostic& finding) {
    const SourceFile* file = finding.where.file;
    if (file == nullptr) return false;
    const auto [entry, added] = by_file.try_emplace(file);
    if (added) entry->second = read_suppressions(*file);
    if (entry->second.empty()) return false;
    const uint32_t line = file->position(finding.where.range.begin).line;
    return std::any_of(entry->second.begin(), entry->second.end(), [&](const Suppression& s) {
      return s.first_line <= line && line <= s.last_line &&
             (s.rule == finding.rule || s.rule == finding.name);
    });
  });
}

}  // namespace kvbudget
