// Source: vllm/config/vllm.py, VllmConfig._set_cudagraph_sizes (0.6 to 0.33).
#include "lint/engine/cudagraph.h"

#include <algorithm>
#include <set>

namespace kvbudget {
namespace {

constexpr uint32_t kStep = 8;
constexpr uint32_t kWideStep = 16;
constexpr uint32_t kWideFrom = 256;

}  // namespace

std::vector<uint32_t> capture_sizes(const CaptureRules& rules) {
  std::set<uint32_t> sizes = {1, 2, 4};
  for (uint32_t size = 1; size <= rules.every_size_to; ++size) sizes.insert(size);
  for (uint32_t size = kStep; size <= rules.largest;) {
    sizes.insert(size);
    size += rules.wide_step && size >= kWideFrom ? kWideStep : kStep;
  }
  for (const uint32_t size : rules.extra) sizes.insert(size);
  if (rules.tokens_per_step > 1) {
    const std::vector<uint32_t> requests(sizes.begin(), sizes.end());
    for (const uint32_t size : requests) {
      if (size <= rules.largest / rules.tokens_per_step) sizes.insert(size * rules.tokens_per_step);
    }
  }
  const uint32_t limit = std::min(rules.largest, rules.most_tokens);
  return {sizes.begin(), sizes.upper_bound(limit)};
}

}  // namespace kvbudget
