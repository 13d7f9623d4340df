// Engines that a Python script of a Ray application makes.
#pragma once

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Adds an engine for each AsyncEngineArgs, LLM or LLMConfig that the script makes; `base` holds
/// the environment that it sees and the GPUs of one worker.
void add_python_engines(const SourceText& script, const EngineStart& base, FileContents& out);

}  // namespace kvbudget
