// Doing a patch's operations. Operations: RFC 6902; paths: RFC 6901. `test` holds, `move` and
// `copy` are not done: patches of pods do without.

#include <algorithm>
#include <charconv>

#include "lint/read/json_patch.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxDepth = 40;

class Operation {
 public:
  Operation(std::string_view op, std::vector<std::string> path, NodePtr value)
      : op_(op), path_(std::move(path)), value_(std::move(value)) {}

  NodePtr apply(const NodePtr& node, size_t i) const {
    if (path_.size() > kMaxDepth) return node;
    if (i == path_.size()) return op_ == "remove" ? nullptr : value_;
    auto copy = std::make_shared<Node>(*node);
    const bool done = node->is_sequence() ? apply_to_item(*copy, i) : apply_to_member(*copy, i);
    return done ? copy : node;
  }

 private:
  bool is_last(size_t i) const { return i + 1 == path_.size(); }

  bool apply_to_item(Node& list, size_t i) const {
    const std::string& key = path_[i];
    size_t index = list.items.size();
    if (key != "-") {
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc() || end != key.data() + key.size()) return false;
    }
    if (is_last(i) && op_ == "add" && index <= list.items.size()) {
      list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(index), value_);
      return true;
    }
    if (index >= list.items.size()) return false;
    NodePtr item = apply(list.items[index], i + 1);
    if (item != nullptr) {
      list.items[index] = std::move(item);
    } else {
      list.items.erase(list.items.begin() + static_cast<std::ptrdiff_t>(index));
    }
    return true;
  }

  bool apply_to_member(Node& mapping, size_t i) const {
    const auto same = [&](const Entry& entry) { return entry.key.view() == path_[i]; };
    const auto found = std::find_if(mapping.entries.begin(), mapping.entries.end(), same);
    if (found == mapping.entries.end()) {
      if (!is_last(i) || op_ != "add") return false;
      SourceText key = SourceText::empty_at(value_->where.file, value_->where.range);
      key.append_synthetic(path_[i], value_->where.range.begin);
      mapping.kind = Node::Kind::kMapping;
      mapping.entries.push_back({std::move(key), value_});
      return true;
    }
    NodePtr value = apply(found->value, i + 1);
    if (value != nullptr) {
      found->value = std::move(value);
    } else {
      mapping.entries.erase(found);
    }
    return true;
  }

  std::string_view op_;
  std::vector<std::string> path_;
  NodePtr value_;
};

}  // namespace

std::vector<std::string> split_pointer(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < path.size();) {
    const size_t end = std::min(path.find('/', i + 1), path.size());
    std::string part;
    for (size_t k = i + 1; k < end; ++k) {
      const bool escaped = path[k] == '~' && k + 1 < end;
      part += !escaped ? path[k] : path[k + 1] == '1' ? '/' : '~';
      if (escaped) ++k;
    }
    parts.push_back(std::move(part));
    i = end;
  }
  return parts;
}

NodePtr apply_json_patch(const NodePtr& manifest, const Node& patch) {
  NodePtr result = manifest;
  for (const NodePtr& item : patch.items) {
    const Node* op = item->find("op");
    const Node* path = item->find("path");
    const Entry* value = item->find_entry("value");
    if (op == nullptr || path == nullptr || !path->is_scalar()) continue;
    const bool removes = op->scalar() == "remove";
    const bool writes = op->scalar() == "add" || op->scalar() == "replace";
    if (!removes && (!writes || value == nullptr)) continue;
    const Operation operation(op->scalar(), split_pointer(path->scalar()),
                              value == nullptr ? nullptr : value->value);
    if (NodePtr changed = operation.apply(result, 0)) result = std::move(changed);
  }
  return result;
}

}  // namespace kvbudget
