// Field meanings and defaults: Kubernetes API reference 1.30 (Probe, Volume, SecurityContext,
// DeploymentStrategy, Service).
#include "lint/read/kubernetes_surroundings.h"

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/kubernetes_services.h"
#include "lint/read/manifest.h"
#include "lint/read/quantity.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

// Kinds whose pods run as they are written (lws v0.7 adds variables only), and whether they are
// kept running.
struct PlainKind {
  std::string_view name;
  bool controlled;
};
constexpr std::array<PlainKind, 9> kPlainKinds = {{{"Pod", false},
                                                   {"Job", false},
                                                   {"CronJob", false},
                                                   {"Deployment", true},
                                                   {"StatefulSet", true},
                                                   {"DaemonSet", true},
                                                   {"ReplicaSet", true},
                                                   {"ReplicationController", true},
                                                   {"LeaderWorkerSet", true}}};

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
  probe.timeout_written = node->find("timeoutSeconds") != nullptr;
  probe.timeout = number_or(node->find("timeoutSeconds"), probe.timeout);
  for (const std::string_view how : {"httpGet", "tcpSocket", "grpc"}) {
    if (auto port = located_text(node->at({how, "port"}))) probe.port = std::move(port);
  }
  return probe;
}

std::vector<Claim> claims_of(const Node& workload, const std::vector<NodePtr>& roots) {
  std::vector<Claim> claims;
  const auto add = [&](const Node& claim) {
    const Node* name = claim.at({"metadata", "name"});
    if (name == nullptr) return;
    const Node* modes = claim.at({"spec", "accessModes"});
    const bool one_node = modes != nullptr && modes->items.size() == 1 &&
                          modes->items.front()->scalar() == "ReadWriteOnce";
    claims.push_back({std::string(name->scalar()),
                      bytes_of(claim.at({"spec", "resources", "requests", "storage"})), one_node});
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
    if (claim.name != name) continue;
    mount.size_bytes = claim.size_bytes;
    mount.one_node = claim.one_node;
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
    around.gpu_quantity = located_text(gpus);
    around.gpu_in_limits = list == limits;
  }
}

// Extended resources have a slash in their name.
void read_devices(const Node& container, Surroundings& around) {
  for (const std::string_view list : {"limits", "requests"}) {
    const Node* resources = container.at({"resources", list});
    if (resources == nullptr) continue;
    for (const Entry& entry : resources->entries) {
      if (entry.key.view().find('/') == std::string_view::npos) continue;
      around.devices.push_back({entry.key.str(), entry.key.location()});
    }
  }
}

void read_gpu_access(const Node& container, const Node& spec, Surroundings& around) {
  read_devices(container, around);
  const bool other_devices =
      std::any_of(around.devices.begin(), around.devices.end(),
                  [](const auto& device) { return device.value != "nvidia.com/gpu"; });
  around.other_gpu_access = other_devices || spec.find("runtimeClassName") != nullptr ||
                            spec.find("resourceClaims") != nullptr ||
                            has_text(container.at({"securityContext", "privileged"}), "true");
  const Node* selector = spec.find("nodeSelector");
  if (selector == nullptr) return;
  for (const Entry& entry : selector->entries) {
    if (auto value = located_text(entry.value.get())) {
      around.node_labels.push_back({entry.key.str(), std::move(*value)});
    }
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

/// The engine's container and those that run beside it: init containers only if they stay.
std::vector<const Node*> running_containers(const Node& spec) {
  std::vector<const Node*> result;
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Node* list = spec.find(key);
    for (const NodePtr& item : list == nullptr ? std::vector<NodePtr>() : list->items) {
      const bool stays = key == "containers" || has_text(item->find("restartPolicy"), "Always");
      if (stays) result.push_back(item.get());
    }
  }
  return result;
}

void read_ports(const Node& own, const Node& spec, Surroundings& around) {
  for (const Node* container : running_containers(spec)) {
    const Node* ports = container->find("ports");
    const bool declares = ports != nullptr && !ports->items.empty();
    if (container != &own && !declares) around.undeclared_ports = true;
    for (const NodePtr& port : declares ? ports->items : std::vector<NodePtr>()) {
      const Node* number = port->find("containerPort");
      if (number == nullptr) continue;
      const Node* name = port->find("name");
      around.ports.push_back({name == nullptr ? "" : std::string(name->scalar()),
                              std::string(number->scalar()), port->where, container == &own});
    }
  }
}

void read_annotations(const Node& workload, Surroundings& around) {
  const std::initializer_list<std::string_view> paths[] = {
      {"metadata", "annotations"}, {"spec", "template", "metadata", "annotations"}};
  for (const auto& path : paths) {
    const Node* annotations = workload.at(path);
    if (annotations == nullptr) continue;
    const Node* ignored = annotations->find("kvbudget.io/ignore");
    if (ignored != nullptr && ignored->is_scalar()) around.annotations.push_back(ignored->text);
    const Node* load = annotations->find("kvbudget.io/workload");
    if (load != nullptr && load->is_scalar()) around.load = load->text;
  }
}

void read_strategy(const Node& workload, Surroundings& around) {
  around.deployment = is_kind(workload, "Deployment");
  const Node* strategy = workload.at({"spec", "strategy"});
  if (strategy == nullptr) return;
  around.strategy_where = strategy->where;
  const Node* surge = strategy->at({"rollingUpdate", "maxSurge"});
  const bool no_surge = has_text(surge, "0") || has_text(surge, "0%");
  around.recreates = has_text(strategy->find("type"), "Recreate") || no_surge;
  around.surges = surge != nullptr && surge->is_scalar() && word_of(*surge).known && !no_surge;
  const Node* unavailable = strategy->at({"rollingUpdate", "maxUnavailable"});
  if (unavailable != nullptr) around.max_unavailable = std::string(unavailable->scalar());
}

/// `sh -c SCRIPT` in command or arguments.
bool runs_script(const Node& container) {
  for (const std::string_view key : {"command", "args"}) {
    const Node* words = container.find(key);
    for (const NodePtr& word : words == nullptr ? std::vector<NodePtr>() : words->items) {
      const std::string_view text = word->scalar();
      if (text == "-c" || text == "-lc" || text == "-ec" || text == "-exc") return true;
    }
  }
  return false;
}

/// Where a block mapping begins: its first key stands alone behind blanks.
Location place_for_key(const Node& mapping) {
  const Location first = first_key(mapping);
  if (!first) return {};
  const Position at = first.file->position(first.range.begin);
  const std::string_view line = first.file->line_text(at.line);
  return line.find_first_not_of(' ') + 1 == at.column ? first : Location{};
}

bool holds_template(const Node& node) {
  if (!node.where) return false;
  const ByteRange& range = node.where.range;
  return has_template_action(node.where.file->bytes().substr(range.begin, range.end - range.begin));
}

void read_kind(const Node& workload, Surroundings& around) {
  const auto kind = std::find_if(kPlainKinds.begin(), kPlainKinds.end(),
                                 [&](const PlainKind& k) { return is_kind(workload, k.name); });
  if (kind == kPlainKinds.end()) return;
  around.workload = std::string(kind->name);
  around.controlled = kind->controlled;
  around.whole = !holds_template(workload);
}

}  // namespace

std::shared_ptr<const Surroundings> workload_surroundings(const Node& workload,
                                                          const std::vector<NodePtr>& roots) {
  auto around = std::make_shared<Surroundings>();
  around->kubernetes = true;
  read_kind(workload, *around);
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
  // A container without an image is one that a patch changes.
  around->whole = around->whole && container.find("image") != nullptr;
  around->startup = probe_of(container.find("startupProbe"));
  around->liveness = probe_of(container.find("livenessProbe"));
  around->readiness = probe_of(container.find("readinessProbe"));
  around->pod_begin = place_for_key(spec);
  around->host_ipc = has_text(spec.find("hostIPC"), "true");
  around->host_network = has_text(spec.find("hostNetwork"), "true");
  around->more_variables = container.find("envFrom") != nullptr;
  around->service_links = !has_text(spec.find("enableServiceLinks"), "false");
  read_mounts(container, spec, *around);
  read_resources(container, *around);
  read_gpu_access(container, spec, *around);
  read_security(container, spec, *around);
  read_ports(container, spec, *around);
  around->runs_script = runs_script(container);
  return around;
}

}  // namespace kvbudget
