// vLLM's own defaults (data/defaults.tsv): which row holds for a release, a GPU, a model and what
// else is set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/engine/gpus.h"
#include "lint/engine/settings.h"
#include "lint/memory/model_shape.h"

namespace kvbudget {

/// What conditions look at. The second half is found out while resolving goes on.
struct DefaultFacts {
  const Settings& settings;
  Version version;
  const Gpu* gpu = nullptr;                   ///< null: not known, conditions on it do not hold
  const memory::ModelShape* model = nullptr;  ///< likewise

  bool v1 = true;
  uint32_t pipeline_parallel = 1;
  uint32_t data_parallel = 1;
  uint64_t max_model_len = 0;
  bool chunked_prefill = false;
  bool prefix_caching = false;
  std::string speculation{};  ///< method, empty without speculative decoding
  std::string kv_cache_dtype = "auto";
  uint64_t block_tokens = 16;
};

struct DefaultRow {
  std::string_view setting;
  std::optional<Version> since;
  std::optional<Version> removed;
  std::string_view conditions;
  std::string_view value;
  std::string_view source;
};
const std::vector<DefaultRow>& default_rows();

/// Whether one condition word holds; nullopt for a word that means nothing.
std::optional<bool> condition_holds(std::string_view word, const DefaultFacts& facts);

/// Value of the last row of `setting` that holds.
std::optional<std::string_view> default_value(std::string_view setting, const DefaultFacts& facts);
/// The same for rows that override what the user sets (`setting!`).
std::optional<std::string_view> forced_value(std::string_view setting, const DefaultFacts& facts);

}  // namespace kvbudget
