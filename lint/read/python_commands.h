// Engines that a Python script starts as programs of their own.
#pragma once

#include "lint/read/engine_start.h"
#include "lint/read/python_script.h"

namespace kvbudget {

/// Adds an engine for each list of words that starts vLLM, and for each command of a shell that a
/// call gets; `base` holds what is known of all engines of the script.
void add_python_commands(const PythonScript& script, const EngineStart& base, FileContents& out);

}  // namespace kvbudget
