// Cards as tools that rent machines write them: a name, a colon, a number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// One kind of machine that would do.
struct Accelerator {
  SourceText name;
  std::optional<Located<uint32_t>> count;
};

/// What is known whichever of the alternatives is taken: the name of the only one or the choice of
/// names, the count when all agree.
GpuRequest request_of(const std::vector<Accelerator>& alternatives);

/// The whole number that a text is; its place is the text's.
std::optional<Located<uint32_t>> whole_number(const SourceText& text);

/// A variable that the platform sets for every command, such as SKYPILOT_NUM_GPUS_PER_NODE. Its
/// place is the number's when the file holds it, and otherwise wherever the variable is used.
EnvVar platform_variable(std::string name, const std::optional<Located<uint32_t>>& number);

}  // namespace kvbudget
