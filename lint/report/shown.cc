#include "lint/report/shown.h"

#include <algorithm>
#include <iterator>

namespace kvbudget {
namespace {

bool is_secret(std::string_view name) {
  constexpr std::string_view kEndings[] = {"TOKEN", "KEY", "SECRET", "PASSWORD",
                                           "token", "key", "secret", "password"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

std::string_view shown_value(std::string_view name, std::string_view value, bool known) {
  if (!known) return "(decided at run time)";
  return is_secret(name) ? "(hidden)" : value;
}

}  // namespace kvbudget
