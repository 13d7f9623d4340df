#include "lint/engine/attention_backends.h"

#include <algorithm>

#include "lint/engine/numbers.h"
#include "lint/engine/table.h"

namespace kvbudget {
namespace {

uint32_t number(std::string_view text) {
  return static_cast<uint32_t>(std::clamp<int64_t>(python_int(text).value_or(0), 0, UINT32_MAX));
}

// "80-121", or one number; with a step behind a slash counted from 0.
bool in_range(std::string_view range, uint32_t value) {
  const size_t slash = std::min(range.find('/'), range.size());
  const uint32_t step = slash < range.size() ? number(range.substr(slash + 1)) : 1;
  const std::string_view ends = range.substr(0, slash);
  const size_t dash = ends.find('-');
  if (dash == std::string_view::npos) return number(ends) == value;
  return number(ends.substr(0, dash)) <= value && value <= number(ends.substr(dash + 1)) &&
         value % std::max(step, 1U) == 0;
}

bool in_ranges(std::string_view ranges, char separator, uint32_t value) {
  const std::vector<std::string_view> pieces = split(ranges, separator);
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](std::string_view range) { return in_range(range, value); });
}

uint32_t tenths(ComputeCapability card) { return card.major * 10U + card.minor; }

// fp8 is e4m3 by another name.
std::string_view plain_name(std::string_view kv_dtype) {
  return kv_dtype == "fp8_e4m3" ? "fp8" : kv_dtype;
}

bool has_sixteen_bits(std::string_view kv_dtype) {
  return kv_dtype.empty() || kv_dtype == "auto" || kv_dtype == "bfloat16" ||
         kv_dtype == "float16" || kv_dtype == "half";
}

}  // namespace

bool AttentionBackend::runs_on(ComputeCapability card, Version version) const {
  return in_ranges(value_at(capabilities, version), ',', tenths(card));
}

bool AttentionBackend::holds(std::string_view kv_dtype, ComputeCapability card,
                             Version version) const {
  if (has_sixteen_bits(kv_dtype)) return true;
  for (const std::string_view entry : split(value_at(kv_dtypes, version), ',')) {
    const size_t colon = std::min(entry.find(':'), entry.size());
    if (entry.substr(0, colon) != plain_name(kv_dtype)) continue;
    return colon == entry.size() || in_ranges(entry.substr(colon + 1), '+', tenths(card));
  }
  return false;
}

bool AttentionBackend::takes_heads_of(uint32_t head_dim, Version version) const {
  return head_dim == 0 || in_ranges(value_at(head_sizes, version), ',', head_dim);
}

bool AttentionBackend::has_sinks(ComputeCapability card, Version version) const {
  return in_ranges(value_at(sinks, version), ',', tenths(card));
}

uint32_t AttentionBackend::block_multiple(Version version) const {
  return std::max(1U, number(value_at(block_multiples, version)));
}

std::span<const AttentionBackend> all_attention_backends() {
  static const std::vector<AttentionBackend> backends = [] {
    std::vector<AttentionBackend> parsed;
    for (const TableRow& row : read_engine_table("attention_backends.tsv", 11)) {
      parsed.push_back({row[0], parse_version(row[1]), parse_version(row[2]), row[3] == "mla",
                        number(row[4]), number(row[5]), row[6], row[7], row[8], row[9], row[10]});
    }
    return parsed;
  }();
  return backends;
}

const AttentionBackend* find_attention_backend(std::string_view name) {
  const std::span<const AttentionBackend> backends = all_attention_backends();
  const auto found = std::find_if(backends.begin(), backends.end(),
                                  [&](const AttentionBackend& b) { return b.name == name; });
  return found != backends.end() ? &*found : nullptr;
}

}  // namespace kvbudget
