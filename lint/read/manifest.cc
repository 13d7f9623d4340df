#include "lint/read/manifest.h"

namespace kvbudget {

std::string object_name(const Node& root) {
  const Node* kind = root.find("kind");
  std::string result(kind == nullptr ? std::string_view() : kind->scalar());
  const Node* name = root.at({"metadata", "name"});
  if (name == nullptr) name = root.at({"metadata", "generateName"});
  if (name != nullptr) result += "/" + std::string(name->scalar());
  return result;
}

bool is_object(const Node& root, std::string_view kind, std::string_view group) {
  const Node* own = root.find("kind");
  const Node* version = root.find("apiVersion");
  return own != nullptr && own->scalar() == kind && version != nullptr &&
         version->scalar().starts_with(group);
}

}  // namespace kvbudget
