// One rank's share of the KV-cache groups: the bytes of a block, and what one request asks for.
//
// A demand is a sum over groups of bytes times pages, so that it can be evaluated for any length
// without planning again: vLLM's binary search for the longest context costs a few dozen divisions.
//
// Source: _pool_bytes_per_block, _max_memory_usage_bytes_from_groups and
// get_max_concurrency_for_kv_cache_config in vllm/v1/core/kv_cache_utils.py, 0.10 to 0.33.
#pragma once

#include <cstdint>
#include <vector>

#include "lint/memory/grouping.h"

namespace kvbudget::memory {

class Demand {
 public:
  /// `bytes` for each page of the spec in `specs` that needs the most pages.
  void add(uint64_t bytes, const SpecList& specs);
  void set_divisor(uint64_t divisor) { divisor_ = divisor; }

  uint64_t at(uint64_t length, const RequestLimits& limits) const;

  /// The largest length up to `limit` whose demand is within `available`; 0 when there is none.
  uint64_t longest(int64_t available, uint64_t limit, const RequestLimits& limits) const;

  const SpecList& specs() const { return specs_; }

 private:
  struct Need {
    uint64_t bytes = 0;
    size_t end = 0;  ///< of its specs
  };
  SpecList specs_;
  std::vector<Need> needs_;
  uint64_t divisor_ = 1;
};

struct RankLayout {
  std::vector<uint32_t> layers;
  bool supported = true;      ///< false: grouping this rank alone is refused (0.10)
  uint64_t block_bytes = 0;   ///< of available memory
  uint64_t tensor_bytes = 0;  ///< in this rank's tensors
  uint64_t bytes_per_token = 0;
  uint32_t num_groups = 0;
  uint32_t smallest_block_tokens = 0;
  Demand check;              ///< bytes for one request
  Demand request;            ///< blocks of one request
  Demand scheduler_request;  ///< … with mixed groups reduced to their first spec
};

/// `original` are the specs before grouping changed them.
RankLayout lay_out_rank(const Grouping& grouping, const SpecList& original,
                        std::vector<uint32_t> layers, const PlanRules& rules);

/// The check that counts the groups of all ranks together.
Demand whole_model_demand(const Grouping& grouping, const PlanRules& rules);

}  // namespace kvbudget::memory
