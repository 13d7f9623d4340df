// Engines that a Python script makes of vLLM's classes, or of Ray's around them.
#pragma once

#include "lint/read/engine_start.h"
#include "lint/read/python_script.h"

namespace kvbudget {

/// Adds an engine for each AsyncEngineArgs, EngineArgs, LLM or LLMConfig that the script makes;
/// `base` holds the environment that it sees and the GPUs of one worker.
void add_python_engines(const PythonScript& script, const EngineStart& base, FileContents& out);

}  // namespace kvbudget
