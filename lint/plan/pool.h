// The pool of KV blocks that surely fits: as many as the estimate has at its low end, pinned by a
// flag so that every start has exactly these, whatever its profile run measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lint/deployment.h"

namespace kvbudget::plan {

struct Pool {
  uint64_t num_blocks = 0;
  uint64_t bytes_per_block = 0;  ///< on the rank that holds the most
  uint64_t request_blocks = 0;   ///< that one request of max_model_len holds
  std::string pin_flag;          ///< "kv-cache-memory-bytes"
  uint64_t pin_value = 0;
  memory::Estimate free;    ///< with a pool of whatever size comes out
  memory::Estimate pinned;  ///< with the flag; its plan has exactly num_blocks
};

/// Of a deployment that has an estimate. `error` says why there is none.
std::optional<Pool> find_pool(const Deployment& deployment, std::string& error);

}  // namespace kvbudget::plan
