// Rules: Kubernetes "strategic merge patch" (sig-api-machinery), with the merge keys of PodSpec and
// Container (API reference 1.30); directives `$patch: delete|replace`.

#include "lint/read/strategic_merge.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 40;
constexpr size_t kMaxPairs = size_t{1} << 22;  // of things to compare; what needs more is replaced
constexpr std::string_view kDirective = "$patch";

struct MergeKey {
  std::string_view list;
  std::string_view key;
};
constexpr std::array<MergeKey, 7> kMergeKeys = {{{"containers", "name"},
                                                 {"initContainers", "name"},
                                                 {"env", "name"},
                                                 {"volumes", "name"},
                                                 {"volumeMounts", "mountPath"},
                                                 {"ports", "containerPort"},
                                                 {"imagePullSecrets", "name"}}};

std::string_view merge_key_of(std::string_view list) {
  for (const MergeKey& row : kMergeKeys) {
    if (row.list == list) return row.key;
  }
  return {};
}

bool has_directive(const Node& node, std::string_view directive) {
  const Node* own = node.find(kDirective);
  return own != nullptr && own->scalar() == directive;
}

NodePtr without_directive(const NodePtr& node) {
  if (node->find_entry(kDirective) == nullptr) return node;
  auto copy = std::make_shared<Node>(*node);
  std::erase_if(copy->entries, [](const Entry& entry) { return entry.key.view() == kDirective; });
  return copy;
}

class Merger {
 public:
  explicit Merger(Lists lists) : lists_(lists) {}

  NodePtr merge(const NodePtr& base, const NodePtr& patch, int depth) const {
    if (!base->is_mapping() || !patch->is_mapping() || depth > kMaxDepth) return patch;
    if (base->entries.size() * patch->entries.size() > kMaxPairs) return patch;
    if (has_directive(*patch, "replace")) return without_directive(patch);
    auto result = std::make_shared<Node>(*base);
    for (const Entry& entry : patch->entries) {
      if (entry.key.view() != kDirective) merge_entry(*result, entry, depth + 1);
    }
    return result;
  }

 private:
  NodePtr merge_list(const NodePtr& base, const NodePtr& patch, std::string_view key,
                     int depth) const {
    if (base->items.size() * patch->items.size() > kMaxPairs) return patch;
    auto result = std::make_shared<Node>(*base);
    for (const NodePtr& item : patch->items) {
      const Node* name = item->find(key);
      const auto same = [&](const NodePtr& other) {
        const Node* own = other->find(key);
        return name != nullptr && own != nullptr && own->scalar() == name->scalar();
      };
      const auto found = std::find_if(result->items.begin(), result->items.end(), same);
      if (has_directive(*item, "delete")) {
        if (found != result->items.end()) result->items.erase(found);
      } else if (found != result->items.end()) {
        *found = merge(*found, item, depth);
      } else {
        result->items.push_back(item);
      }
    }
    return result;
  }

  void merge_entry(Node& result, const Entry& entry, int depth) const {
    const auto same = [&](const Entry& other) { return other.key.view() == entry.key.view(); };
    const auto found = std::find_if(result.entries.begin(), result.entries.end(), same);
    if (entry.value->kind == Node::Kind::kNull || has_directive(*entry.value, "delete")) {
      if (found != result.entries.end()) result.entries.erase(found);
      return;
    }
    if (found == result.entries.end()) {
      result.entries.push_back(entry);
      return;
    }
    const std::string_view key = merge_key_of(entry.key.view());
    const bool lists =
        lists_ == Lists::kMergeNamed && found->value->is_sequence() && entry.value->is_sequence();
    found->value = lists && !key.empty() ? merge_list(found->value, entry.value, key, depth)
                                         : merge(found->value, entry.value, depth);
  }

  Lists lists_;
};

}  // namespace

NodePtr merge_manifests(const NodePtr& base, const NodePtr& patch, WorkLimit& limit, Lists lists) {
  if (base == nullptr) return patch;
  if (patch == nullptr || !limit.spend_on(*base) || !limit.spend_on(*patch)) return base;
  return Merger(lists).merge(base, patch, 0);
}

}  // namespace kvbudget
