// What `python -m dynamo.vllm` takes beside the engine's own flags.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// The words without Dynamo's flags and their values, which go to `own`: Dynamo's parser takes
/// those out and hands the rest to vLLM's.
std::vector<Word> without_dynamo_flags(const std::vector<Word>& words,
                                       std::vector<WrapperFlag>& own);

/// A key of Dynamo's in a section of settings, by its name with dashes.
bool is_dynamo_key(std::string_view name);

}  // namespace kvbudget
