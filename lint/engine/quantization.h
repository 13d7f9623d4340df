// The quantisation methods of each release, and the cards that they run on
// (data/quantization.tsv).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lint/engine/gpus.h"
#include "lint/engine/version.h"

namespace kvbudget {

struct QuantizationMethod {
  std::string_view name;
  std::optional<Version> since;
  std::optional<Version> removed;  ///< first release without it
  std::string_view deprecation;    ///< "true" with a history, see table.h, like the two below
  std::string_view capability;     ///< "80 75@0.14"
  std::string_view dtypes;         ///< "half half,bfloat16@0.24"
  std::string_view successor;      ///< another method, a plugin ("vllm-gguf-plugin"), or empty

  bool exists(Version version) const;
  /// The engine wants --allow-deprecated-quantization.
  bool is_deprecated(Version version) const;
  /// Least capability of a card; nullopt where the method is not one for NVIDIA's.
  std::optional<ComputeCapability> least_capability(Version version) const;
  /// Whether --dtype may be `dtype` ("half", "bfloat16", "float32"); true where nothing is known.
  bool takes_dtype(std::string_view dtype, Version version) const;
};

std::span<const QuantizationMethod> all_quantization_methods();  // sorted by name
/// Null for a name that no release had (a plugin may still bring it).
const QuantizationMethod* find_quantization_method(std::string_view name);

}  // namespace kvbudget
