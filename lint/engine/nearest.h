// "did you mean": the known word that a wrong one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvbudget {

/// The word of `known` that takes the fewest edits to reach, case ignored; empty when every one is
/// further away than a typo.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

/// "; did you mean 'x'?", or "; " and `otherwise` when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view otherwise);

}  // namespace kvbudget
