// How a checkpoint's numbers are packed: quantization_config of config.json, or ModelOpt's
// hf_quant_config.json beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/memory/model_shape.h"
#include "lint/models/config.h"
#include "lint/models/module_pattern.h"

namespace kvbudget::models {

/// A group of modules that share a format.
struct QuantizedGroup {
  ModulePatterns targets;  ///< empty: every linear layer
  memory::WeightFormat format;
};

struct Quantization {
  std::string method;                  ///< as the engine names it, empty for plain weights
  std::string kv_cache_scheme;         ///< "fp8" when the checkpoint asks for it
  std::vector<QuantizedGroup> groups;  ///< the first that matches counts
  ModulePatterns ignored;
  bool experts_only = false;                    ///< mxfp4: other layers stay as they are
  std::optional<memory::WeightFormat> experts;  ///< of routed experts, where it is another

  /// The format of a linear layer, nullptr for plain. `path` without "model.".
  const memory::WeightFormat* format_of(std::string_view path, bool expert) const;
};

/// Formats by name, shared by checkpoints and by --quantization at load time.
memory::WeightFormat per_tensor_format(memory::ElementType type);
memory::WeightFormat per_row_format(memory::ElementType type, uint32_t scale_bits);
memory::WeightFormat grouped_format(memory::ElementType type, uint32_t bits, uint32_t group,
                                    uint32_t scale_bits, uint32_t zero_bits);

/// Reads it from the root of config.json (or its text part) and `modelopt`, the text of
/// hf_quant_config.json. What is not understood is an error on `root`.
Quantization read_quantization(const Config& root, const Config& text_part,
                               std::string_view modelopt);

}  // namespace kvbudget::models
