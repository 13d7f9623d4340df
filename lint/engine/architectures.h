// The model architectures that each release knows (data/architectures.tsv).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lint/engine/version.h"

namespace kvbudget {

struct Architecture {
  std::string_view name;      ///< "LlamaForCausalLM"
  std::string_view category;  ///< "text", "multimodal", "embedding", "speculative" …
  std::optional<Version> since;
  std::optional<Version> removed;  ///< first release without it
  std::string_view flags;          ///< "hybrid,pp,lora"
  bool has(std::string_view flag) const;
};

std::span<const Architecture> all_architectures();  // sorted by name
/// Null for a name that no release knew (a plugin or remote code may still serve it).
const Architecture* find_architecture(std::string_view name);
bool architecture_exists(const Architecture& architecture, Version version);

}  // namespace kvbudget
