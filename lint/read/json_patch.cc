// A patch is no manifest: its operations are gathered into the part of a pod that they speak of,
// and that part is read like any other. Operations: RFC 6902; paths: RFC 6901.

#include "lint/read/json_patch.h"

#include <algorithm>
#include <map>
#include <vector>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxOperations = 1000;

bool is_index(std::string_view text) {
  return text == "-" || (!text.empty() && text.find_first_not_of("0123456789") == text.npos);
}

/// A mapping that is still being put together.
struct Part {
  std::map<std::string, Part> members;
  std::vector<NodePtr> items;  // what was added to a list
  NodePtr value;               // given whole
};

/// `value` at the place that the parts of `path` from `i` on name.
void put(Part& part, const std::vector<std::string>& path, size_t i, const NodePtr& value) {
  if (i == path.size()) {
    part.value = value;
    part.items.clear();
  } else if (i + 1 == path.size() && is_index(path[i])) {
    part.items.push_back(value);
  } else if (i < 12) {
    put(part.members[path[i]], path, i + 1, value);
  }
}

NodePtr build(const Part& part, const Location& where) {
  auto node = part.value ? std::make_shared<Node>(*part.value) : std::make_shared<Node>();
  if (!part.value) {
    node->kind = part.items.empty() ? Node::Kind::kMapping : Node::Kind::kSequence;
    node->where = where;
  }
  node->items.insert(node->items.end(), part.items.begin(), part.items.end());
  for (const auto& [name, member] : part.members) {
    SourceText key = SourceText::empty_at(where.file, where.range);
    key.append_synthetic(name, where.range.begin);
    node->entries.push_back({std::move(key), build(member, where)});
  }
  return node;
}

/// Index of the container's number in the path, 0 when it speaks of none.
size_t container_at(const std::vector<std::string>& path) {
  const auto found = std::find(path.begin(), path.end(), "containers");
  const auto at = static_cast<size_t>(found - path.begin()) + 1;
  return at < path.size() && is_index(path[at]) ? at : 0;
}

class Patch {
 public:
  void add(const Node& operation, const NodePtr& value) {
    const Node* op = operation.find("op");
    const Node* path = operation.find("path");
    if (op == nullptr || path == nullptr || !path->is_scalar() || value == nullptr) return;
    if (op->scalar() != "add" && op->scalar() != "replace") return;
    const std::vector<std::string> parts = split_pointer(path->scalar());
    if (const size_t at = container_at(parts)) {
      std::string name;
      for (size_t i = 0; i <= at; ++i) name += "/" + parts[i];
      put(containers_[name], parts, at + 1, value);
    } else if (parts.size() == 2 && parts[1] == "replicas") {
      replicas_ = number_of(value.get());
    } else {
      add_to_pod(parts, value);
    }
  }

  void read(const YamlFile& yaml, const Location& where, const std::string& target,
            FileContents& out) const {
    const ConfigMaps configs(yaml);
    const NodePtr pod = build(pod_, where);
    for (const auto& [name, part] : containers_) {
      const NodePtr container = build(part, where);
      EngineStart start;
      start.file = &yaml.file;
      start.kind = "kustomize";
      start.name = target.empty() ? "patch of " + name : target;
      start.where = where;
      start.replicas = replicas_;
      if (container->find("command") != nullptr) {
        read_container(*container, *pod, configs, start, out);
      } else {
        add_arguments(*container, *pod, configs, std::move(start), out);
      }
    }
  }

 private:
  void add_to_pod(const std::vector<std::string>& path, const NodePtr& value) {
    for (const std::string_view key : {"nodeSelector", "affinity"}) {
      const auto found = std::find(path.begin(), path.end(), key);
      if (found != path.end()) put(pod_, path, static_cast<size_t>(found - path.begin()), value);
    }
  }

  /// Arguments of a command that stands elsewhere: one option that only vLLM has is enough.
  static void add_arguments(const Node& container, const Node& pod, const ConfigMaps& configs,
                            EngineStart start, FileContents& out) {
    describe_container(container, pod, configs, start);
    const Node* args = container.find("args");
    for (const NodePtr& item : args == nullptr ? std::vector<NodePtr>() : args->items) {
      if (item->is_scalar()) start.argv.push_back(expand_references(word_of(*item), start.env));
    }
    if (!hold_vllm_option(start.argv)) return;
    start.where = start.argv.front().text.location();
    out.starts.push_back(std::move(start));
  }

  std::map<std::string, Part> containers_;
  Part pod_;
  std::optional<Located<uint32_t>> replicas_;
};

}  // namespace

bool is_json_patch(const Node& root) {
  if (!root.is_sequence() || root.items.empty()) return false;
  return root.items.front()->find("op") != nullptr && root.items.front()->find("path") != nullptr;
}

void read_json_patch_of(const YamlFile& yaml, const Node& patch, const std::string& target,
                        FileContents& out) {
  if (patch.items.size() > kMaxOperations || !yaml.limit.spend_on(patch)) return;
  Patch gathered;
  for (const NodePtr& operation : patch.items) {
    const Entry* value = operation->find_entry("value");
    gathered.add(*operation, value == nullptr ? nullptr : value->value);
  }
  gathered.read(yaml, patch.where, target, out);
}

bool read_json_patch(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_json_patch(root)) return false;
  read_json_patch_of(yaml, root, "", out);
  return true;
}

}  // namespace kvbudget
