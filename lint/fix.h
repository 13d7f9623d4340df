// Applies the fixes that findings carry to the bytes of their files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lint/diagnostic.h"

namespace kvbudget {

enum class FixLevel {
  kNone,
  kSafe,  ///< --fix: only what cannot change what the service does
  kAll,   ///< --unsafe-fixes
};

struct FixedFiles {
  std::map<std::string, std::string> texts;  ///< by path, the files that change
  size_t applied = 0;                        ///< fixes
};

/// The texts after every fix up to `level`. A fix is applied whole or not at all: one whose bytes
/// another has taken waits for the next run, and so does one in a file without a path of its own
/// (standard input).
FixedFiles apply_fixes(const std::vector<Diagnostic>& findings, FixLevel level);

}  // namespace kvbudget
