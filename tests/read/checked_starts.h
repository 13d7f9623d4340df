// The engine starts of a file that reads without errors.
#pragma once

#include <vector>

#include "lint/read/engine_start.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

namespace kvbudget {

inline std::vector<EngineStart> checked_starts(const SourceFile& file) {
  FileContents contents = read_file(file);
  CHECK(contents.errors.empty());
  for (const EngineStart& start : contents.starts) CHECK(misplaced_word(start) == "");
  return contents.starts;
}

}  // namespace kvbudget
