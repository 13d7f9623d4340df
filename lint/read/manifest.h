// What every Kubernetes object has.
#pragma once

#include <string>
#include <string_view>

#include "lint/read/document.h"

namespace kvbudget {

/// "Kind/name" of a manifest.
std::string object_name(const Node& root);

/// An object of that kind and of an API group that begins with `group`.
bool is_object(const Node& root, std::string_view kind, std::string_view group);

}  // namespace kvbudget
