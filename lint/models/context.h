// How long a context a model was built for, by the rules of one engine version.
#pragma once

#include <cstdint>
#include <string>

#include "lint/engine/version.h"
#include "lint/memory/model_shape.h"

namespace kvbudget {

struct ContextLimit {
  uint64_t default_tokens = 0;  ///< max_model_len when it is not set
  uint64_t limit_tokens = 0;    ///< largest max_model_len that the engine accepts
  std::string key;              ///< "max_position_embeddings", with the rope factor when it counted
  bool known =
      false;  ///< false: config.json names no length, the engine uses 2048 and checks nothing
};

/// Follows vLLM's _get_and_verify_max_len of that version.
ContextLimit context_limit(const memory::ModelShape& model, Version version,
                           bool disable_sliding_window);

}  // namespace kvbudget
