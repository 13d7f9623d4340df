// The option strings of one release, as its argument parser holds them: exact names, aliases,
// negative forms, and what an abbreviation may stand for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/engine/flags.h"
#include "lint/engine/version.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// One spelling of a flag.
struct Option {
  std::string text;  ///< with dashes: "--no-enable-prefix-caching", "-tp"
  const Flag* flag = nullptr;
  bool negative = false;  ///< turns a switch off
};

class OptionTable {
 public:
  /// Options of `vllm serve`, of the api_server module, or of `vllm run-batch`.
  OptionTable(Version version, bool serve, EngineUse use);

  const Option* find(std::string_view text) const;
  /// Every option that begins with `text`.
  std::span<const Option> with_prefix(std::string_view text) const;

 private:
  void add(const Flag& flag, Version version);

  std::vector<Option> options_;  // sorted by text
};

}  // namespace kvbudget
