// Numbers as vLLM's parser reads them: Python's int and float, and its own human-readable integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lint/engine/flags.h"
#include "lint/engine/version.h"

namespace kvbudget {

/// Python's int(text): blanks around, a sign, single underscores between digits.
std::optional<int64_t> python_int(std::string_view text);
/// Python's float(text), finite values only.
std::optional<double> python_float(std::string_view text);

/// vLLM's human_readable_int (vllm/engine/arg_utils.py): k m g t are powers of 1000, K M G T powers
/// of 1024. A decimal takes a lower-case suffix only. `auto` is -1 where `type` is kHumanIntAuto.
std::optional<int64_t> human_int(std::string_view text, FlagType type, Version version);

}  // namespace kvbudget
