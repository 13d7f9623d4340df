#include "lint/read/document.h"

namespace kvbudget {

const Entry* Node::find_entry(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key.view() == key) return &entry;
  }
  return nullptr;
}

const Node* Node::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry == nullptr ? nullptr : entry->value.get();
}

const Node* Node::at(std::initializer_list<std::string_view> path) const {
  const Node* node = this;
  for (const std::string_view key : path) {
    node = node->find(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

}  // namespace kvbudget
