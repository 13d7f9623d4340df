// Versions of vLLM: parsing tags and comparing releases.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvbudget {

struct Version {
  uint16_t major = 0;
  uint16_t minor = 0;
  uint16_t patch = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
  std::string str() const;
};

/// Reads "0.19.0", "v0.19.1", "0.10.2.post1", "v0.20.0-cu129", "0.10" (patch 0), "v0.11.0rc2" (as
/// 0.11.0). Anything else ("latest", "nightly", a digest) is nullopt.
std::optional<Version> parse_version(std::string_view text);

}  // namespace kvbudget
