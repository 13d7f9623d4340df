// An engine start in one line, for tables of cases.
#pragma once

#include <string>

#include "lint/read/readers.h"
#include "tests/read/starts.h"
#include "tests/read/word_places.h"

namespace kvbudget {

/// "WORDS; image IMAGE; gpu COUNT NAME RESOURCE; replicas N; nodes N"; what is not said is left
/// out.
inline std::string summary_of(const EngineStart& start) {
  std::string text = words_of(start);
  if (start.image)
    text += std::string("; image ") + (start.image_known ? "" : "?") + start.image->str();
  if (start.gpu.count || start.gpu.name) {
    text += "; gpu";
    if (start.gpu.count) text += " " + std::to_string(start.gpu.count->value);
    if (start.gpu.name) text += " " + start.gpu.name->value;
    if (!start.gpu.resource.empty()) text += " " + start.gpu.resource;
  }
  if (start.replicas) text += "; replicas " + std::to_string(start.replicas->value);
  if (start.nodes) text += "; nodes " + std::to_string(start.nodes->value);
  return text;
}

/// All starts of a file, a line each. Words that stand elsewhere than they say are named.
inline std::string summaries_of(const SourceFile& file) {
  std::string text;
  for (const EngineStart& start : read_file(file).starts) {
    if (!text.empty()) text += "\n";
    text += summary_of(start);
    if (const std::string word = misplaced_word(start); !word.empty()) text += " MISPLACED " + word;
  }
  return text;
}

/// "KIND NAME: WORDS" of each start of a file, a line each.
inline std::string named_summaries_of(const SourceFile& file) {
  std::string text;
  for (const EngineStart& start : read_file(file).starts)
    text += start.kind + " " + start.name + ": " + summary_of(start) + "\n";
  return text;
}

/// Line of a place in its file.
inline uint32_t line_of(const Location& where) {
  return where.file->position(where.range.begin).line;
}

/// "LINE:COLUMN" of a word of the command line.
inline std::string position_of(const EngineStart& start, std::string_view word) {
  for (const Word& known : start.argv) {
    if (known.text.view() != word) continue;
    const Position at = start.file->position(known.text.location().range.begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column);
  }
  return "nowhere";
}

}  // namespace kvbudget
