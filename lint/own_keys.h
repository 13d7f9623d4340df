// What can be wrong with a key or a number that people write for this program: in `.kvbudget.yaml`
// and in annotations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

/// "unknown key 'engin'; did you mean 'engine'?"
std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known);

struct BoundedNumber {
  double value = 0.0;  ///< `least` when there is an error
  std::string error;
};
BoundedNumber bounded_number(const Node& value, double least, double most);

}  // namespace kvbudget
