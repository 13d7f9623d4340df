// Numbers of a config under one-letter names, and formulas over them: how towers.cc and wrappers.cc
// say in a line what a class of the engine does in a constructor.
//
// A definition is `name=keys:default`. Keys are spellings ("hidden_size|embed_dim") of the part
// that is being read; `^` looks at the root of the config instead, `#` takes the length of a list,
// `@` its last element (a list without either gives its first). A key that is absent takes the
// default, a formula over the names before it; without a default it must be there. No keys at all
// (`n=:n+f+1`) computes a name from others.
//
// A formula has + - * / ( ), comparisons with < > =, `a?b:c`, and [a] for a rounded down.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "lint/models/config.h"

namespace kvbudget::models {

class Sizes {
 public:
  void set(char name, double value);
  /// Reads definitions separated by spaces. Failures are reported on `part`.
  void read(std::string_view definitions, const Config& part, const Config& root);
  /// nullopt when the formula uses a name that nothing defined, or divides by zero.
  std::optional<double> evaluate(std::string_view formula) const;
  /// The same as a whole number up to 2^40; anything else fails on `config` and gives 0.
  uint64_t whole(std::string_view formula, const Config& config) const;

 private:
  std::array<std::optional<double>, 128> values_;
};

}  // namespace kvbudget::models
