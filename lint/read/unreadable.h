// Why nothing could be read from a file that somebody named. Files found by walking are passed over
// in silence instead: most of a repository is none of our business.
#pragma once

#include <optional>

#include "lint/read/document.h"

namespace kvbudget {

/// Empty, not text, of a kind that no reader knows although it speaks of vLLM, or YAML of which no
/// document could be read; nullopt for a sound file of another
/// kind.
std::optional<SyntaxError> why_unreadable(const SourceFile& file);

}  // namespace kvbudget
