// What every Kubernetes object has.
#pragma once

#include <string>
#include <string_view>

#include "lint/read/document.h"
#include "lint/read/readers.h"

namespace kvbudget {

/// "Kind/name" of a manifest.
std::string object_name(const Node& root);

/// An object of that kind and of an API group that begins with `group`.
bool is_object(const Node& root, std::string_view kind, std::string_view group);

bool is_kind(const Node& root, std::string_view kind);

/// The item of a list (containers, volumes, variables) with that `name`; null when there is none,
/// or no list.
const Node* item_named(const Node* list, std::string_view name);

/// Where an object begins: its first key.
Location first_key(const Node& mapping);

/// An engine of the object, as far as the object says what it is and where it stands.
EngineStart object_start(const YamlFile& yaml, const Node& root, std::string kind);

}  // namespace kvbudget
