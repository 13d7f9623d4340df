// Checks that the place of a word in the file is the word.
#pragma once

#include <string>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// The first word whose place in the file says something else; empty when there is none. Words that
/// went through quotes, escapes or variables are not written as they read: their bytes do not stand
/// in one row.
inline std::string misplaced_word(const EngineStart& start) {
  for (const Word& word : start.argv) {
    const SourceText& text = word.text;
    if (text.empty()) continue;
    bool in_a_row = true;
    for (size_t i = 1; i < text.size(); ++i) {
      in_a_row = in_a_row && text.offset(i) == text.offset(i - 1) + 1;
    }
    if (!in_a_row) continue;
    const Location where = text.location();
    if (!where || where.file != start.file) return text.str();
    std::string there(
        where.file->bytes().substr(where.range.begin, where.range.end - where.range.begin));
    for (size_t i = 0; i < there.size() && i < text.size(); ++i) {
      const bool line_break = there[i] == '\n' || there[i] == '\r';
      if (line_break && text[i] == ' ') there[i] = ' ';  // folded
    }
    if (there.starts_with('$') && text[0] != '$') continue;  // the result of arithmetic
    if (there != text.view()) return text.str() + " against " + there;
  }
  return {};
}

}  // namespace kvbudget
