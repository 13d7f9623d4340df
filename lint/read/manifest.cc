#include "lint/read/manifest.h"

#include <utility>

#include "lint/read/kubernetes_surroundings.h"

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
  const Node* version = root.find("apiVersion");
  return is_kind(root, kind) && version != nullptr && version->scalar().starts_with(group);
}

bool is_kind(const Node& root, std::string_view kind) { return has_text(root.find("kind"), kind); }

const Node* item_named(const Node* list, std::string_view name) {
  if (list == nullptr) return nullptr;
  for (const NodePtr& item : list->items) {
    if (has_text(item->find("name"), name)) return item.get();
  }
  return nullptr;
}

Location first_key(const Node& mapping) {
  return mapping.entries.empty() ? mapping.where : mapping.entries.front().key.location();
}

EngineStart object_start(const YamlFile& yaml, const Node& root, std::string kind) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = std::move(kind);
  start.name = object_name(root);
  start.where = first_key(root);
  if (yaml.limit.spend(kRootBytes * yaml.roots.size())) {
    start.around = workload_surroundings(root, yaml.roots);
  }
  return start;
}

}  // namespace kvbudget
