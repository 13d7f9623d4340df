// What of a template is there only under a condition.
#pragma once

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Makes words, keys and variables unknown that stand in an `if`, `with` or `range` which the start
/// itself does not stand in, and leaves numbers out that do: whether they are there is decided when
/// the template runs.
void mark_conditional_parts(const SourceFile& file, std::vector<EngineStart>& starts);

}  // namespace kvbudget
