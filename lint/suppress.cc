#include "lint/suppress.h"

#include <algorithm>
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

struct Named {
  std::string rule;
  size_t offset;  ///< in the comment
};
struct Comment {
  std::vector<Named> rules;
  bool has_reason = false;
};

// The rules that the comment at the start of `text` names, nullopt when it is another comment.
std::optional<Comment> ignored_rules(const std::string_view text) {
  std::string_view rest = text;
  if (!consume(rest, "#") || !consume(rest, "kvbudget:") || !consume(rest, "ignore")) {
    return std::nullopt;
  }
  // Names hold single dashes, the reason follows a double one.
  const size_t dashes = rest.find("--");
  Comment comment;
  comment.has_reason =
      dashes != std::string_view::npos && !trim_left(rest.substr(dashes + 2)).empty();
  rest = rest.substr(0, dashes);
  constexpr std::string_view kSeparators = ", \t\r";
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSeparators), rest.size()));
    if (rest.empty()) return comment;
    const size_t end = std::min(rest.find_first_of(kSeparators), rest.size());
    comment.rules.push_back(
        {std::string(rest.substr(0, end)), static_cast<size_t>(rest.data() - text.data())});
    rest.remove_prefix(end);
  }
}

// The lines that a comment on `line` stands for.
Suppression covered_lines(const SourceFile& file, uint32_t line, bool own_line) {
  Suppression covered;
  covered.first_line = covered.last_line = line;
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
    const auto comment = ignored_rules(text.substr(hash));
    if (!comment) continue;
    Suppression covered = covered_lines(file, line, is_comment(text));
    covered.has_reason = comment->has_reason;
    for (const Named& named : comment->rules) {
      const auto begin = static_cast<uint32_t>(file.line_start(line) + hash + named.offset);
      covered.rule = named.rule;
      covered.where = {&file, {begin, begin + static_cast<uint32_t>(named.rule.size())}};
      result.push_back(covered);
    }
  }
  return result;
}

std::vector<Suppression> read_annotation(const SourceText& text, int deployment) {
  std::vector<Suppression> result;
  const std::string_view all = text.view();
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find_first_of(";\n", begin), all.size());
    const std::string_view part = all.substr(begin, end - begin);
    const size_t colon = std::min(part.find(':'), part.size());
    const std::string_view rule = trim_left(part.substr(0, colon));
    const size_t size = std::min(rule.find_first_of(kSpace), rule.size());
    if (size > 0) {
      Suppression& suppression = result.emplace_back();
      suppression.rule = std::string(rule.substr(0, size));
      suppression.deployment = deployment;
      suppression.where =
          text.substr(static_cast<size_t>(rule.data() - all.data()), size).location();
      suppression.has_reason = colon < part.size() && !trim_left(part.substr(colon + 1)).empty();
    }
    begin = end + 1;
  }
  return result;
}

void suppress(std::vector<Diagnostic>& findings, std::vector<Suppression>& suppressions) {
  const auto covers = [](const Suppression& s, const Diagnostic& finding) {
    if (s.rule != finding.rule && s.rule != finding.name) return false;
    if (s.deployment >= 0) return s.deployment == finding.deployment;
    if (finding.where.file == nullptr || s.where.file != finding.where.file) return false;
    const uint32_t line = finding.where.file->position(finding.where.range.begin).line;
    return s.first_line <= line && line <= s.last_line;
  };
  if (suppressions.empty()) return;
  std::erase_if(findings, [&](const Diagnostic& finding) {
    bool hidden = false;
    for (Suppression& s : suppressions) {
      if (!covers(s, finding)) continue;
      s.used = true;
      hidden = true;
    }
    return hidden;
  });
}

}  // namespace kvbudget
