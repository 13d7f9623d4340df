// What the formats without a place for notes and fixes put below the message.
#pragma once

#include <string>
#include <string_view>

#include "lint/diagnostic.h"
#include "lint/report/report.h"

namespace kvbudget {

enum class NotesShown { kUnplaced, kAll };  ///< kUnplaced: those that name no place of their own

/// The message and its notes, one a line.
std::string message_with_notes(const Diagnostic& finding, NotesShown shown);

/// What a fix does, and whether it needs a second look.
std::string fix_text(const Fix& fix);

/// "1 file", "2 fixes"
std::string counted(size_t count, std::string_view noun);

/// "2 errors, 1 info"; empty without findings.
std::string counts_text(const Report& report);

/// Where the rule is described: its heading in rules/README.md.
std::string rule_address(std::string_view id, std::string_view name);

/// "KVB103 max-model-len-exceeds-kv"
std::string rule_title(const Diagnostic& finding);

}  // namespace kvbudget
