// The batch sizes that an engine captures CUDA graphs for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lint/engine/settings.h"
#include "lint/engine/version.h"

namespace kvbudget {

struct CaptureRules {
  uint32_t largest = 0;          ///< size that the list goes up to
  uint32_t most_tokens = 0;      ///< max_num_batched_tokens: no size above it
  bool wide_step = false;        ///< from 256 on every 16th size instead of every 8th
  uint32_t every_size_to = 0;    ///< all sizes up to here instead of 1, 2 and 4
  uint32_t tokens_per_step = 1;  ///< sizes times this are captured too (speculative decoding)
  std::vector<uint32_t> extra;   ///< further sizes, as far as they are within `largest`
};

/// Sorted, each once.
std::vector<uint32_t> capture_sizes(const CaptureRules& rules);

/// The list that an engine start states: `--cudagraph-capture-sizes`, `--cuda-graph-sizes` with
/// several numbers, or a member of `--compilation-config`.
std::optional<std::vector<int64_t>> stated_capture_sizes(const Settings& settings);
/// The largest size that it states apart from a list; `--cuda-graph-sizes` with one number is that.
std::optional<uint64_t> stated_largest_capture(const Settings& settings);
/// The flag that sets it in that release; empty where none does.
std::string_view largest_capture_flag(Version version);

}  // namespace kvbudget
