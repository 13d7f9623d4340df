// Arithmetic of the shell: `$((NODES * GPUS))`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lint/read/shell_scope.h"

namespace kvbudget {

/// Value of the text between `$((` and `))`. Nothing when a variable is not known, or the text is
/// more than + - * / %, parentheses, whole numbers and variables (`X`, `$X`, `${X:-1}`).
std::optional<int64_t> evaluate_arithmetic(std::string_view text, const ShellScope& scope);

}  // namespace kvbudget
