// The ports on which the pods of a workload listen.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "lint/deployment.h"

namespace kvbudget {

/// Nothing can be said of ports unless all are known.
struct Listeners {
  std::set<std::string> ports;
  std::string engine;  ///< the API's, one of them
  bool known = true;
  bool certain = true;  ///< false: a script may start other programs that listen
};

/// Of the workload that `d` is part of; `all` are the engines of its file.
Listeners listeners_of(const Deployment& d, std::span<const Deployment> all);

bool is_port_number(std::string_view text);

}  // namespace kvbudget
