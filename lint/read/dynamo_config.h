// The configuration of `dynamo serve` (Dynamo 0.1 to 0.3): one section of settings per component.
#pragma once

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Sections of components, at least one of which runs vLLM.
bool is_dynamo_config(const Node& config);

/// Adds the engine of one section, if it is one; `base` holds what is known of the component
/// besides.
void add_dynamo_section(const Node& config, const Entry& section, const EngineStart& base,
                        FileContents& out);

}  // namespace kvbudget
