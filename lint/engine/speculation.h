// Speculative decoding as an engine start asks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lint/engine/settings.h"

namespace kvbudget {

struct Speculation {
  std::string method;  ///< by vLLM's name: "mtp", "eagle3", "draft_model", "ngram" …
  std::string model;   ///< what drafts; empty where the method needs none, or takes the model's own
  std::optional<uint64_t> tokens;  ///< num_speculative_tokens
};

/// `--speculative-config` (from 0.8.3), its short forms `--spec-*` (from 0.22) and the single flags
/// before. Nullopt without any of them; `*unreadable` names the setting that only run time knows.
std::optional<Speculation> read_speculation(const Settings& settings,
                                            std::string* unreadable = nullptr);

/// Whether the method drafts without weights of its own.
bool drafts_without_model(const Speculation& speculation);

}  // namespace kvbudget
