// Ray Serve LLM: one `LLMConfig` is one engine.
#pragma once

#include "lint/read/engine_start.h"

namespace kvbudget {

bool is_llm_config(const Node& node);

/// Adds the engine that `config` describes. `base` holds what the cluster around it gives: image,
/// environment, the GPUs of one worker.
void add_llm_config(const Node& config, const EngineStart& base, FileContents& out);

/// The GPUs of one replica: as many as its ranks, of several workers when one has fewer. `kwargs`
/// holds the sizes; `start` the GPUs of one worker, if there is any.
void fit_replica(const Node* kwargs, const Location& otherwise, EngineStart& start);

}  // namespace kvbudget
