// What the formats without a place for notes and fixes put below the message.
#pragma once

#include <string>

#include "lint/diagnostic.h"

namespace kvbudget {

enum class NotesShown { kUnplaced, kAll };  ///< kUnplaced: those that name no place of their own

/// The message and its notes, one a line.
std::string message_with_notes(const Diagnostic& finding, NotesShown shown);

/// What a fix does, and whether it needs a second look.
std::string fix_text(const Fix& fix);

/// "KVB103 max-model-len-exceeds-kv"
std::string rule_title(const Diagnostic& finding);

}  // namespace kvbudget
