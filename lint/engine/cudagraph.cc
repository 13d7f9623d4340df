// Source: vllm/config/vllm.py, VllmConfig._set_cudagraph_sizes (0.6 to 0.33).
#include "lint/engine/cudagraph.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "lint/engine/flags.h"
#include "lint/engine/json_text.h"
#include "lint/engine/numbers.h"

namespace kvbudget {
namespace {

constexpr uint32_t kStep = 8;
constexpr uint32_t kWideStep = 16;
constexpr uint32_t kWideFrom = 256;
// Graphs of so many tokens fit no card; their sizes would be counted one by one.
constexpr uint32_t kMostTokens = 1U << 20;

}  // namespace

std::vector<uint32_t> capture_sizes(const CaptureRules& rules) {
  const uint32_t limit = std::min({rules.largest, rules.most_tokens, kMostTokens});
  std::set<uint32_t> sizes = {1, 2, 4};
  for (uint32_t size = 1; size <= std::min(rules.every_size_to, limit); ++size) sizes.insert(size);
  for (uint32_t size = kStep; size <= limit;) {
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
  return {sizes.begin(), sizes.upper_bound(limit)};
}

std::optional<std::vector<int64_t>> stated_capture_sizes(const Settings& settings) {
  const std::string config = settings.text("compilation-config");
  if (auto sizes = json_integers(config, "cudagraph_capture_sizes")) return sizes;
  for (const std::string_view name : {"cudagraph-capture-sizes", "cuda-graph-sizes"}) {
    std::vector<int64_t> sizes;
    const std::string words = settings.text(name);
    for (size_t begin = 0; begin < words.size();) {
      const size_t end = std::min(words.find(' ', begin), words.size());
      if (const auto size = python_int(words.substr(begin, end - begin))) sizes.push_back(*size);
      begin = end + 1;
    }
    const size_t least = name == "cuda-graph-sizes" ? 2 : 1;
    if (sizes.size() >= least) return sizes;
  }
  return std::nullopt;
}

std::optional<uint64_t> stated_largest_capture(const Settings& settings) {
  const std::string config = settings.text("compilation-config");
  std::optional<int64_t> size = settings.integer("max-cudagraph-capture-size");
  if (!size) size = settings.integer("cuda-graph-sizes");
  if (!size) size = python_int(json_member(config, "max_cudagraph_capture_size").value_or(""));
  return size && *size > 0 ? std::optional(static_cast<uint64_t>(*size)) : std::nullopt;
}

std::string_view largest_capture_flag(Version version) {
  for (const std::string_view name : {"max-cudagraph-capture-size", "cuda-graph-sizes"}) {
    const Flag* const flag = find_flag(name);
    if (flag != nullptr && flag_exists(*flag, version)) return name;
  }
  return {};
}

}  // namespace kvbudget
