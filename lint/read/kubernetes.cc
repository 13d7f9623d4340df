// Kubernetes manifests: Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob, ReplicaSet,
// LeaderWorkerSet (sigs.k8s.io/lws v0.7), RayCluster inside AIBrix's fleets (KubeRay 1.4), roles of
// AIBrix's StormService (0.5) and kthena's ModelServing (0.4), and whatever else holds a pod
// template.
//
// The pod spec is what matters and every kind wraps it differently, so it is looked for by its
// `containers`, and what stands on the way down (replicas, group size, names of roles) is
// collected.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
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
      : yaml_(yaml), configs_(yaml), start_(object_start(yaml, root, "kubernetes")), out_(out) {}

  void read(const Node& node) { walk(node, start_, 0); }

 private:
  void walk(const Node& node, EngineStart start, int depth, bool is_role = false) {
    if (depth > kMaxDepth || !yaml_.limit.spend(64)) return;
    if (!node.is_mapping()) return;
    const Node* containers = node.find("containers");
    if (containers != nullptr && containers->is_sequence()) {
      if (yaml_.limit.spend_on(node)) read_pod(node, configs_, start, out_);
      return;
    }
    read_numbers(node, is_role, start);
    for (const Entry& entry : node.entries) {
      const std::string_view key = entry.key.view();
      if (key == "metadata" || key == "status") continue;
      EngineStart inner = start;
      if (const std::string role = role_of(key); !role.empty()) inner.name += "/" + role;
      if (entry.value->is_mapping()) walk(*entry.value, std::move(inner), depth + 1);
      for (const NodePtr& item : entry.value->items) {
        walk_item(*item, inner, depth + 1, key == "roles");
      }
    }
  }

  /// How many pods a part of the workload has, and how many of them are one engine.
  void read_numbers(const Node& node, bool is_role, EngineStart& start) const {
    if (const auto replicas = number_of(node.find("replicas"))) {
      const uint64_t groups = is_role && start.replicas ? start.replicas->value : 1;
      start.replicas = replicas;
      start.replicas->value =
          static_cast<uint32_t>(std::min<uint64_t>(groups * replicas->value, UINT32_MAX));
      start.serves_traffic = start.replicas->value > 0;
    }
    if (const Node* group = node.find("leaderWorkerTemplate")) read_group_size(*group, start);
    if (const auto size = number_of(node.find("podGroupSize"))) start.nodes = size;
    if (const auto workers = number_of(node.find("workerReplicas"));
        workers && workers->value > 0) {
      start.nodes = Located<uint32_t>{saturated_sum(workers->value, 1), workers->where};
    }
    if (node.find("headGroupSpec") != nullptr) read_ray_cluster(node, start);
  }

  /// LeaderWorkerSet tells its pods how many they are.
  static void read_group_size(const Node& group, EngineStart& start) {
    const Entry* size = group.find_entry("size");
    if (size == nullptr || !size->value->is_scalar()) return;
    start.nodes = number_of(size->value.get());
    start.env.push_back(
        {word_over("LWS_GROUP_SIZE", size->key).text, size->value->text, start.nodes.has_value()});
  }

  /// The head starts the engine; it spans the pods that have GPUs.
  void read_ray_cluster(const Node& cluster, EngineStart& start) const {
    const GpuRequest head = gpus_of_group(cluster.find("headGroupSpec"));
    uint32_t nodes = head.count ? 1 : 0;
    std::optional<Located<uint32_t>> replicas;
    const Node* groups = cluster.find("workerGroupSpecs");
    for (const NodePtr& group : groups == nullptr ? std::vector<NodePtr>() : groups->items) {
      const GpuRequest own = gpus_of_group(group.get());
      if (!own.count) continue;
      replicas = number_of(group->find("replicas"));
      const GpuRequest& first = head.count ? head : start.gpu;
      const bool same = !first.count || first.count->value == own.count->value;
      if (!replicas || !same) return;  // not so many times the same machine
      if (!head.count) start.gpu = own;
      nodes = saturated_sum(nodes, replicas->value);
    }
    if (replicas) start.nodes = Located<uint32_t>{nodes, replicas->where};
  }

  GpuRequest gpus_of_group(const Node* group) const {
    const Node* pod = group == nullptr ? nullptr : group->at({"template", "spec"});
    const Node* containers = pod == nullptr ? nullptr : pod->find("containers");
    EngineStart start;
    for (const NodePtr& item : containers == nullptr ? std::vector<NodePtr>() : containers->items) {
      if (!start.gpu.count) describe_container(*item, *pod, configs_, start);
    }
    return start.gpu;
  }

  static uint32_t saturated_sum(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} + b, UINT32_MAX));
  }

  /// Items of a list of roles or worker groups have names of their own.
  void walk_item(const Node& item, const EngineStart& start, int depth, bool is_role) {
    EngineStart inner = start;
    const Node* name = item.find("name");
    if (name != nullptr && name->is_scalar()) inner.name += "/" + std::string(name->scalar());
    walk(item, std::move(inner), depth, is_role);
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
