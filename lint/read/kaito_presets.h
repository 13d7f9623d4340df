// Short names of models in KAITO.
#pragma once

#include <string_view>

namespace kvbudget {

/// The id on the Hub of a preset ("phi-4-mini-instruct"); empty for a name that is no preset.
std::string_view kaito_preset(std::string_view name);

}  // namespace kvbudget
