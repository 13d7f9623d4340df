// Patterns over paths, as .gitignore has them (gitignore(5)): `*`, `?` and `[a-z]` stay within one
// name, `**` crosses folders, `!` takes a match back, a slash inside ties the pattern to its
// folder, one at the end asks for a folder. The last pattern that matches decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvbudget {

class PathPatterns {
 public:
  /// One pattern; comments and blank lines of a .gitignore are no patterns.
  void add(std::string_view line);
  /// Every line of a .gitignore.
  void add_lines(std::string_view text);

  bool empty() const { return patterns_.empty(); }

  /// What the patterns say of `path`, which is relative to their folder.
  enum class Match { kNone, kMatched, kTakenBack };
  Match match(std::string_view path, bool is_folder) const;
  /// True when `path` itself or a folder on the way to it matches.
  bool covers(std::string_view path) const;

 private:
  struct Pattern {
    std::string text;
    bool negated = false;
    bool folders_only = false;
    bool anchored = false;
  };
  std::vector<Pattern> patterns_;
};

/// One pattern against one whole path, without the marks above.
bool glob_matches(std::string_view pattern, std::string_view path);

}  // namespace kvbudget
