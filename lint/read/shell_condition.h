// Conditions of the shell: `[ … ]`, `test …` and `[[ … ]]`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Three-valued logic: nothing stands for "only run time knows".
using Truth = std::optional<bool>;
Truth truth_not(Truth a);
Truth truth_and(Truth a, Truth b);
Truth truth_or(Truth a, Truth b);

/// What a test of these words comes to. Nothing when a word that decides it is not known, or when
/// the file system does. `patterns`: the right side of `==` is one, as within `[[`.
Truth evaluate_test(const std::vector<Word>& words, bool patterns);

/// `text` fits a pattern of the shell (`*`, `?`, `[…]`).
bool fits_pattern(std::string_view text, std::string_view pattern);

/// The pattern that only this text fits: what stands in quotes means itself.
Word literal_pattern(const Word& text);

}  // namespace kvbudget
