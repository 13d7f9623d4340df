// Arguments of KServe's Hugging Face server, which hands most of them to vLLM.
#pragma once

#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// The words under vLLM's names, without what the server keeps for itself.
std::vector<Word> without_server_flags(const std::vector<Word>& words);

/// True when the words choose a backend that is not vLLM.
bool choose_other_backend(const std::vector<Word>& words);

}  // namespace kvbudget
