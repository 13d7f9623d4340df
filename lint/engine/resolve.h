// From settings to numbers: what the engine runs with after its own defaults, which depend on
// version, GPU and model. The defaults are data (lint/engine/data/defaults.tsv).
#pragma once

#include <optional>

#include "lint/engine/gpus.h"
#include "lint/engine/settings.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget {

/// `gpu` and `model` may be null: defaults that depend on them then take the common case (a small
/// card, a plain decoder).
struct ResolveInput {
  const Settings& settings;
  Version version;
  const Gpu* gpu = nullptr;
  const memory::ModelShape* model = nullptr;
  uint64_t default_max_model_len = 0;  ///< from models/context.h
};

struct ResolveResult {
  memory::EngineSettings engine;
  /// Settings whose value is decided elsewhere (a template) or cannot be read as the flag's type;
  /// no estimate then.
  std::vector<std::string> unreadable;
  bool v0_engine = false;  ///< the old engine, which the memory model does not follow
  bool chunked_prefill = true;
};

ResolveResult resolve(const ResolveInput& input);

/// vLLM's default of a setting as text with its origin, for `inspect` ("0.9", "256"); empty when
/// there is none.
std::string default_text(std::string_view setting, const ResolveInput& input);

}  // namespace kvbudget
