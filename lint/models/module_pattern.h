// The module names of quantisation lists: "lm_head", "model.layers.0.mlp*", "re:.*self_attn.*".
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Regex;
}

namespace kvbudget::models {

/// The entries of one modules_to_not_convert, ignore, exclude_modules or targets. Published lists
/// hold up to a few thousand names, so plain ones are looked up and not compared one by one.
class ModulePatterns {
 public:
  ModulePatterns();
  ModulePatterns(ModulePatterns&&) noexcept;
  ModulePatterns& operator=(ModulePatterns&&) noexcept;
  ~ModulePatterns();

  /// False for a regular expression that cannot be read.
  bool add(std::string_view entry);
  bool empty() const { return names_.empty() && globs_.empty() && regexes_.empty(); }

  /// `path` is a module without leading "model.": "layers.0.self_attn.q_proj", "lm_head".
  bool matches(std::string_view path) const;

 private:
  bool matches_name(std::string_view path) const;
  bool has_segments(std::string_view path) const;

  std::set<std::string, std::less<>> names_;  ///< without prefix
  std::vector<std::string> globs_;            ///< without prefix
  std::vector<std::unique_ptr<llvm::Regex>> regexes_;
};

}  // namespace kvbudget::models
