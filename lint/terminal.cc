#include "lint/terminal.h"

#include <string_view>

namespace kvbudget {

namespace {

std::string_view text(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool takes_escapes(bool is_terminal, const Environment& environment) {
  const std::string_view terminal = text(environment, "TERM");
  return is_terminal && !terminal.empty() && terminal != "dumb";
}

bool takes_colour(bool is_terminal, const Environment& environment) {
  if (!text(environment, "NO_COLOR").empty()) return false;
  const std::string_view force = text(environment, "CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return takes_escapes(is_terminal, environment) && text(environment, "CLICOLOR") != "0";
}

}  // namespace kvbudget
