// Field meanings and defaults: Kubernetes API reference 1.30 (Probe, Volume, SecurityContext,
// DeploymentStrategy, Service).
#include "lint/read/kubernetes_surroundings.h"

#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/quantity.h"

namespace kvbudget {
namespace {

std::optional<Located<std::string>> text_of(const Node* node) {
  if (node == nullptr || !node->is_scalar() || !word_of(*node).known) return std::nullopt;
  return Located<std::string>{std::string(node->scalar()), node->where};
}

std::optional<Located<double>> quantity_of(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  const std::optional<double> amount = parse_quantity(node->scalar());
  return amount ? std::optional(Located<double>{*amount, node->where}) : std::nullopt;
}

std::optional<Located<uint64_t>> bytes_of(const Node* node) {
  constexpr double kMost = 1e18;
  const auto amount = quantity_of(node);
  if (!amount || amount->value > kMost) return std::nullopt;
  return Located<uint64_t>{static_cast<uint64_t>(amount->value), amount->where};
}

uint32_t number_or(const Node* node, uint32_t otherwise) {
  const auto number = number_of(node);
  return number ? number->value : otherwise;
}

std::optional<Probe> probe_of(const Node* node) {
  if (node == nullptr || !node->is_mapping()) return std::nullopt;
  Probe probe;
  probe.where = node->where;
  probe.initial_delay = number_or(node->find("initialDelaySeconds"), probe.initial_delay);
  probe.period = number_or(node->find("periodSeconds"), probe.period);
  probe.failures = number_or(node->find("failureThreshold"), probe.failures);
  probe.timeout = number_or(node->find("timeoutSeconds"), probe.timeout);
  for (const std::string_view how : {"httpGet", "tcpSocket", "grpc"}) {
    if (auto port = text_of(node->at({how, "port"}))) probe.port = std::move(port);
  }
  return probe;
}

std::vector<Claim> claims_of(const Node& workload, const std::vector<NodePtr>& roots) {
  std::vector<Claim> claims;
  const auto add = [&](const Node& claim) {
    const Node* name = claim.at({"metadata", "name"});
    if (name == nullptr) return;
    claims.push_back({std::string(name->scalar()),
                      bytes_of(claim.at({"spec", "resources", "requests", "storage"}))});
  };
  for (const NodePtr& root : roots) {
    if (is_kind(*root, "PersistentVolumeClaim")) add(*root);
  }
  if (const Node* templates = workload.at({"spec", "volumeClaimTemplates"})) {
    for (const NodePtr& item : templates->items) add(*item);
  }
  return claims;
}

void claim_volume(std::string_view name, const Surroundings& around, Mount& mount) {
  mount.kind = Mount::Kind::kClaim;
  for (const Claim& claim : around.claims) {
    if (claim.name == name) mount.size_bytes = claim.size_bytes;
  }
}

void describe_volume(const Node& volume, const Surroundings& around, Mount& mount) {
  if (const Node* empty = volume.find("emptyDir")) {
    mount.kind =
        has_text(empty->find("medium"), "Memory") ? Mount::Kind::kMemory : Mount::Kind::kEmptyDir;
    mount.size_bytes = bytes_of(empty->find("sizeLimit"));
  } else if (volume.find("hostPath") != nullptr) {
    mount.kind = Mount::Kind::kHostPath;
  } else if (const Node* claim = volume.find("persistentVolumeClaim")) {
    const Node* name = claim->find("claimName");
    claim_volume(name == nullptr ? "" : name->scalar(), around, mount);
  } else if (volume.find("ephemeral") != nullptr || volume.find("csi") != nullptr) {
    mount.kind = Mount::Kind::kClaim;
  }
}

void read_mounts(const Node& container, const Node& spec, Surroundings& around) {
  const Node* list = container.find("volumeMounts");
  if (list == nullptr) return;
  for (const NodePtr& item : list->items) {
    const Node* path = item->find("mountPath");
    const Node* name = item->find("name");
    if (path == nullptr || name == nullptr) continue;
    Mount mount;
    mount.path = std::string(path->scalar());
    mount.where = item->where;
    mount.read_only = has_text(item->find("readOnly"), "true");
    if (const Node* volume = item_named(spec.find("volumes"), name->scalar())) {
      describe_volume(*volume, around, mount);
    } else {
      claim_volume(name->scalar(), around, mount);
    }
    around.mounts.push_back(std::move(mount));
  }
}

void read_resources(const Node& container, Surroundings& around) {
  const Node* limits = container.at({"resources", "limits"});
  const Node* requests = container.at({"resources", "requests"});
  if (limits != nullptr) {
    around.memory_limit_bytes = bytes_of(limits->find("memory"));
    around.ephemeral_limit_bytes = bytes_of(limits->find("ephemeral-storage"));
    around.cpu_limit = quantity_of(limits->find("cpu"));
  }
  if (requests != nullptr) around.cpu_request = quantity_of(requests->find("cpu"));
  for (const Node* list : {requests, limits}) {
    const Node* gpus = list == nullptr ? nullptr : list->find("nvidia.com/gpu");
    if (gpus == nullptr) continue;
    around.gpu_quantity = text_of(gpus);
    around.gpu_in_limits = list == limits;
  }
}

void read_security(const Node& container, const Node& spec, Surroundings& around) {
  for (const Node* owner : {&spec, &container}) {
    const Node* context = owner->find("securityContext");
    if (context == nullptr || !context->is_mapping()) continue;
    around.security_where = context->where;
    const Node* user = context->find("runAsUser");
    if (const auto id = number_of(user)) around.run_as_user = {id->value, user->where};
    if (const Node* strict = context->find("runAsNonRoot")) {
      around.run_as_non_root = has_text(strict, "true");
    }
    if (const Node* root = context->find("readOnlyRootFilesystem")) {
      around.read_only_root = has_text(root, "true");
    }
  }
}

void read_ports(const Node& spec, Surroundings& around) {
  const Node* containers = spec.find("containers");
  if (containers == nullptr) return;
  for (const NodePtr& container : containers->items) {
    const Node* ports = container->find("ports");
    if (ports == nullptr) continue;
    for (const NodePtr& port : ports->items) {
      const Node* number = port->find("containerPort");
      if (number == nullptr) continue;
      const Node* name = port->find("name");
      around.ports.push_back({name == nullptr ? "" : std::string(name->scalar()),
                              std::string(number->scalar()), port->where});
    }
  }
}

const Node* pod_labels(const Node& workload) {
  const Node* labels = workload.at({"spec", "template", "metadata", "labels"});
  return labels != nullptr ? labels : workload.at({"metadata", "labels"});
}

bool selects(const Node* selector, const Node* labels) {
  if (selector == nullptr || labels == nullptr || selector->entries.empty()) return false;
  return std::all_of(selector->entries.begin(), selector->entries.end(), [&](const Entry& entry) {
    return has_text(labels->find(entry.key.view()), entry.value->scalar());
  });
}

void read_target_ports(const Node& service, Surroundings& around) {
  const Node* ports = service.at({"spec", "ports"});
  if (ports == nullptr) return;
  for (const NodePtr& port : ports->items) {
    const Node* target = port->find("targetPort");
    if (target == nullptr) target = port->find("port");
    if (const auto text = text_of(target)) {
      around.target_ports.push_back({"", text->value, text->where});
    }
  }
}

void read_services(const Node& workload, const std::vector<NodePtr>& roots, Surroundings& around) {
  for (const NodePtr& root : roots) {
    const Node* kind = root->find("kind");
    const auto name = text_of(root->at({"metadata", "name"}));
    if (!name || !has_text(kind, "Service")) continue;
    around.services.push_back(*name);
    if (!selects(root->at({"spec", "selector"}), pod_labels(workload))) continue;
    read_target_ports(*root, around);
    const auto type = text_of(root->at({"spec", "type"}));
    if (type && (type->value == "LoadBalancer" || type->value == "NodePort")) {
      around.exposures.push_back(
          {"Service " + name->value + " of type " + type->value, type->where});
    }
  }
}

void read_annotations(const Node& workload, Surroundings& around) {
  const std::initializer_list<std::string_view> paths[] = {
      {"metadata", "annotations", "kvbudget.io/ignore"},
      {"spec", "template", "metadata", "annotations", "kvbudget.io/ignore"}};
  for (const auto& path : paths) {
    const Node* text = workload.at(path);
    if (text != nullptr && text->is_scalar()) around.annotations.push_back(text->text);
  }
}

void read_strategy(const Node& workload, Surroundings& around) {
  around.deployment = is_kind(workload, "Deployment");
  const Node* strategy = workload.at({"spec", "strategy"});
  if (strategy == nullptr) return;
  around.strategy_where = strategy->where;
  const Node* surge = strategy->at({"rollingUpdate", "maxSurge"});
  around.recreates =
      has_text(strategy->find("type"), "Recreate") || has_text(surge, "0") || has_text(surge, "0%");
}

}  // namespace

std::shared_ptr<const Surroundings> workload_surroundings(const Node& workload,
                                                          const std::vector<NodePtr>& roots) {
  auto around = std::make_shared<Surroundings>();
  around->kubernetes = true;
  around->claims = claims_of(workload, roots);
  read_services(workload, roots, *around);
  read_strategy(workload, *around);
  read_annotations(workload, *around);
  return around;
}

std::shared_ptr<const Surroundings> container_surroundings(const Node& container, const Node& spec,
                                                           const Surroundings* workload) {
  auto around = workload == nullptr ? std::make_shared<Surroundings>()
                                    : std::make_shared<Surroundings>(*workload);
  around->kubernetes = true;
  around->startup = probe_of(container.find("startupProbe"));
  around->liveness = probe_of(container.find("livenessProbe"));
  around->readiness = probe_of(container.find("readinessProbe"));
  around->host_ipc = has_text(spec.find("hostIPC"), "true");
  around->host_network = has_text(spec.find("hostNetwork"), "true");
  around->service_links = !has_text(spec.find("enableServiceLinks"), "false");
  read_mounts(container, spec, *around);
  read_resources(container, *around);
  read_security(container, spec, *around);
  read_ports(spec, *around);
  return around;
}

}  // namespace kvbudget
