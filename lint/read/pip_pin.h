// The release of vLLM that a set-up script installs.
#pragma once

#include <optional>

#include "lint/read/source.h"

namespace kvbudget {

/// The version of the last `vllm==X` (`vllm[flashinfer]==X`) in a script, as pip and uv take it;
/// lower bounds pin nothing.
std::optional<SourceText> pinned_vllm(const SourceText& script);

}  // namespace kvbudget
