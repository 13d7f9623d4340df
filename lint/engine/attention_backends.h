// The attention backends of each release and what they accept (data/attention_backends.tsv).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lint/engine/gpus.h"
#include "lint/engine/version.h"

namespace kvbudget {

struct AttentionBackend {
  std::string_view name;
  std::optional<Version> since;
  std::optional<Version> removed;
  bool mla = false;
  uint32_t place = 0;            ///< in the engine's order of preference, 0: only when asked for
  uint32_t place_blackwell = 0;  ///< on compute capability 10.x
  std::string_view capabilities, kv_dtypes, head_sizes, block_multiples, sinks;  ///< histories

  bool runs_on(ComputeCapability card, Version version) const;
  /// `kv_dtype` in vLLM's spelling; those of 16 bits are always held.
  bool holds(std::string_view kv_dtype, ComputeCapability card, Version version) const;
  bool takes_heads_of(uint32_t head_dim, Version version) const;
  bool has_sinks(ComputeCapability card, Version version) const;
  /// Block sizes are multiples of it.
  uint32_t block_multiple(Version version) const;
};

/// In the order of the table, which is that of preference.
std::span<const AttentionBackend> all_attention_backends();
const AttentionBackend* find_attention_backend(std::string_view name);

}  // namespace kvbudget
