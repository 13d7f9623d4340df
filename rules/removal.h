// Takes words and variables out of a file: the whole item of a list, a line of a script with its
// continuation. Only where the bytes around them leave no doubt about what else they belong to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lint/diagnostic.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// Words of a command line that belong together, a flag and its values.
std::optional<std::vector<Edit>> remove_words(std::span<const Location> words);

/// A variable of a container's list or mapping, of a script or of `docker run -e`.
std::optional<std::vector<Edit>> remove_variable(const EnvVar& variable);

/// Gives `finding` the fix of these edits, if there are any.
void propose_removal(std::optional<std::vector<Edit>> edits, bool safe, std::string description,
                     Diagnostic& finding);

}  // namespace kvbudget
