// The module names of quantisation lists: "lm_head", "model.layers.0.mlp*", "re:.*self_attn.*".
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class Regex;
}

namespace kvbudget::models {

/// One entry of modules_to_not_convert, ignore, exclude_modules or targets.
class ModulePattern {
 public:
  explicit ModulePattern(std::string_view text);
  ModulePattern(ModulePattern&&) noexcept;
  ~ModulePattern();

  /// False for a regular expression that cannot be read; it matches nothing then.
  bool valid() const { return valid_; }
  /// `path` is a module without leading "model.": "layers.0.self_attn.q_proj", "lm_head".
  bool matches(std::string_view path) const;

 private:
  bool matches_name(std::string_view path) const;

  std::string text_;  ///< normalised, without "re:"
  std::unique_ptr<llvm::Regex> regex_;
  bool glob_ = false;
  bool valid_ = true;
};

}  // namespace kvbudget::models
