// What may be shown of a value.
#pragma once

#include <string_view>

namespace kvbudget {

/// Itself, why it is not known, or that it is kept back: reports end up in logs, and the values of
/// variables and settings that are named like secrets must not.
std::string_view shown_value(std::string_view name, std::string_view value, bool known);

}  // namespace kvbudget
