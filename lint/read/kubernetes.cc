// Kubernetes manifests: Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob, ReplicaSet,
// LeaderWorkerSet, and whatever else holds a pod template.
//
// The pod spec is what matters and every kind wraps it differently, so it is looked for by its
// `containers`, and what stands on the way down (replicas, group size, names of roles) is
// collected.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/kubernetes_surroundings.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 30;  // of a pod template below the root

/// What a key on the way to a pod says about its part: "leader" of "leaderTemplate", "prefill".
/// Nothing for keys that every workload has.
std::string role_of(std::string_view key) {
  static constexpr std::array<std::string_view, 9> kWrappers = {
      "spec",  "template", "jobTemplate", "leaderWorkerTemplate", "podTemplate", "podSpec",
      "roles", "items",    "objects"};
  if (std::find(kWrappers.begin(), kWrappers.end(), key) != kWrappers.end()) return {};
  constexpr std::string_view kTemplate = "Template";
  const bool suffix =
      key.size() > kTemplate.size() && key.substr(key.size() - kTemplate.size()) == kTemplate;
  return std::string(suffix ? key.substr(0, key.size() - kTemplate.size()) : key);
}

class Workload {
 public:
  Workload(const YamlFile& yaml, const Node& root, FileContents& out)
      : yaml_(yaml), configs_(yaml), out_(out) {
    start_.file = &yaml.file;
    start_.kind = "kubernetes";
    start_.around = workload_surroundings(root, yaml.roots);
    start_.name = std::string(root.find("kind")->scalar());
    const Node* name = root.at({"metadata", "name"});
    if (name == nullptr) name = root.at({"metadata", "generateName"});
    if (name != nullptr) start_.name += "/" + std::string(name->scalar());
  }

  void read(const Node& node) { walk(node, start_, 0); }

 private:
  void walk(const Node& node, EngineStart start, int depth) {
    if (depth > kMaxDepth || !yaml_.limit.spend(64)) return;
    for (const NodePtr& item : node.items) walk_item(*item, start, depth);
    if (!node.is_mapping()) return;
    const Node* containers = node.find("containers");
    if (containers != nullptr && containers->is_sequence()) {
      if (yaml_.limit.spend_on(node)) read_pod(node, configs_, start, out_);
      return;
    }
    if (const auto replicas = number_of(node.find("replicas"))) {
      start.replicas = replicas;
      start.serves_traffic = replicas->value > 0;
    }
    if (const auto size = number_of(node.at({"leaderWorkerTemplate", "size"}))) start.nodes = size;
    if (const auto size = number_of(node.find("podGroupSize"))) start.nodes = size;
    for (const Entry& entry : node.entries) {
      if (!entry.value->is_mapping() && !entry.value->is_sequence()) continue;
      if (entry.key.view() == "metadata" || entry.key.view() == "status") continue;
      EngineStart inner = start;
      if (const std::string role = role_of(entry.key.view()); !role.empty()) {
        inner.name += "/" + role;
      }
      walk(*entry.value, std::move(inner), depth + 1);
    }
  }

  /// Items of a list of roles or worker groups have names of their own.
  void walk_item(const Node& item, const EngineStart& start, int depth) {
    if (!item.is_mapping() && !item.is_sequence()) return;
    EngineStart inner = start;
    const Node* name = item.find("name");
    if (name != nullptr && name->is_scalar()) inner.name += "/" + std::string(name->scalar());
    walk(item, std::move(inner), depth + 1);
  }

  const YamlFile& yaml_;
  ConfigMaps configs_;
  EngineStart start_;
  FileContents& out_;
};

}  // namespace

bool read_kubernetes(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* kind = root.find("kind");
  if (kind == nullptr || !kind->is_scalar() || root.find("apiVersion") == nullptr) return false;
  Workload(yaml, root, out).read(root);
  return true;
}

}  // namespace kvbudget
