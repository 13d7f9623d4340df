#include "lint/path_patterns.h"

#include <algorithm>

namespace kvbudget {
namespace {

/// `[a-z]`, `[!x]` at the front of `pattern` against `c`; the length of the class, 0 when it is
/// none.
size_t match_class(std::string_view pattern, char c, bool& matched) {
  const size_t end = pattern.find(']', 2);
  if (end == std::string_view::npos) return 0;
  std::string_view body = pattern.substr(1, end - 1);
  const bool negated = body.front() == '!' || body.front() == '^';
  if (negated) body.remove_prefix(1);
  matched = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const bool range = i + 2 < body.size() && body[i + 1] == '-';
    matched = matched || (range ? body[i] <= c && c <= body[i + 2] : body[i] == c);
    if (range) i += 2;
  }
  matched = matched != negated;
  return end + 1;
}

/// How much of the pattern one character of the path uses up; 0 when it does not match.
size_t match_one(std::string_view pattern, char c) {
  if (pattern.empty()) return 0;
  if (pattern[0] == '?') return c == '/' ? 0 : 1;
  if (pattern[0] == '[') {
    bool matched = false;
    const size_t size = match_class(pattern, c, matched);
    if (size != 0) return matched && c != '/' ? size : 0;
  }
  if (pattern[0] == '\\' && pattern.size() > 1) return pattern[1] == c ? 2 : 0;
  return pattern[0] == c ? 1 : 0;
}

struct Star {
  size_t pattern = std::string_view::npos;  ///< behind the star
  size_t path = 0;                          ///< up to which it has taken
};

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// Goes back to the last star alone: `*` within a name, or `**` over folders. Time is bounded by the
// product of the lengths for each of the two.
bool glob_matches(std::string_view pattern, std::string_view path) {
  Star star;
  Star deep;
  size_t p = 0;
  size_t s = 0;
  while (s < path.size() || p < pattern.size()) {
    if (pattern.substr(p, 2) == "**") {
      p += 2;
      // `a/**/b` matches `a/b` too.
      if (p < pattern.size() && pattern[p] == '/' && (p == 2 || pattern[p - 3] == '/')) ++p;
      deep = {p, s};
      star = {};
      continue;
    }
    if (p < pattern.size() && pattern[p] == '*') {
      star = {++p, s};
      continue;
    }
    const size_t used = s < path.size() ? match_one(pattern.substr(p), path[s]) : 0;
    if (used != 0) {
      p += used;
      ++s;
    } else if (star.pattern != std::string_view::npos && star.path < path.size() &&
               path[star.path] != '/') {
      p = star.pattern;
      s = ++star.path;
    } else if (deep.pattern != std::string_view::npos && deep.path < path.size()) {
      p = deep.pattern;
      s = ++deep.path;
      star = {};
    } else {
      return false;
    }
  }
  return true;
}

void PathPatterns::add(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty() || line.front() == '#') return;
  Pattern pattern;
  pattern.negated = line.front() == '!';
  if (pattern.negated) line.remove_prefix(1);
  pattern.folders_only = line.ends_with('/');
  if (pattern.folders_only) line.remove_suffix(1);
  pattern.anchored = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.starts_with("./")) line.remove_prefix(2);
  pattern.text = std::string(line);
  if (!pattern.text.empty()) patterns_.push_back(std::move(pattern));
}

void PathPatterns::add_lines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

PathPatterns::Match PathPatterns::match(std::string_view path, bool is_folder) const {
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->folders_only && !is_folder) continue;
    const std::string_view subject = pattern->anchored ? path : name_of(path);
    if (!glob_matches(pattern->text, subject)) continue;
    return pattern->negated ? Match::kTakenBack : Match::kMatched;
  }
  return Match::kNone;
}

bool PathPatterns::covers(std::string_view path) const {
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (match(path.substr(0, slash), true) == Match::kMatched) return true;
  }
  return match(path, false) == Match::kMatched;
}

}  // namespace kvbudget
