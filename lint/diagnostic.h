// A finding: what a rule says about a place in a file. A value, never an exception; writers decide
// how it looks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/source.h"

namespace kvbudget {

enum class Severity { kInfo, kWarning, kError };
std::string_view severity_name(Severity severity);  // "info", "warning", "error"

/// The rule that says a deployment could not be judged.
inline constexpr std::string_view kNotCheckedRule = "KVB001";

/// Replaces the bytes of `where` with `text`.
struct Edit {
  Location where;
  std::string text;
};

struct Fix {
  bool safe = false;  ///< safe: cannot change what the service does
  std::string description;
  std::vector<Edit> edits;
};

struct Note {
  std::string message;
  Location where;  ///< may be nowhere
};

struct Diagnostic {
  std::string_view rule;  ///< "KVB103"
  std::string_view name;  ///< "max-model-len-exceeds-kv"
  Severity severity = Severity::kWarning;
  Location where;
  std::string message;  ///< lower case, no final full stop; names the key, the value, the limit,
                        ///< the arithmetic
  std::vector<Note> notes;
  std::optional<Fix> fix;
  int deployment = -1;  ///< index in the report's deployments, -1 for findings about a file
  /// What in the deployment it is about ("max-model-len"), where its place does not tell or two
  /// findings of a rule share one place. Never a number or a path: it is part of the fingerprint.
  std::string subject;
  std::string fingerprint;  ///< "HASH:N" (lint/fingerprint.h), set after the rules have run
};

}  // namespace kvbudget
