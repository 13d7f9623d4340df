// Field meanings: compose-spec 2024 (services: shm_size, ipc, volumes, ports, depends_on, user).
#include "lint/read/compose_surroundings.h"

#include <string>

#include "lint/read/compose_text.h"
#include "lint/read/container.h"
#include "lint/read/docker_surroundings.h"
#include "lint/read/quantity.h"

namespace kvbudget {
namespace {

std::optional<Located<uint64_t>> bytes_of(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  const auto bytes = parse_compose_bytes(node->scalar());
  return bytes ? std::optional(Located<uint64_t>{*bytes, node->where}) : std::nullopt;
}

/// "./models:/models:ro", "cache:/root/.cache" or the long form.
void add_volume(const Node& item, Surroundings& around) {
  if (item.is_mapping()) {
    Mount mount;
    mount.where = item.where;
    const Node* target = item.find("target");
    if (target == nullptr) return;
    mount.path = std::string(target->scalar());
    mount.read_only = has_text(item.find("read_only"), "true");
    const Node* type = item.find("type");
    mount.kind = has_text(type, "tmpfs")  ? Mount::Kind::kMemory
                 : has_text(type, "bind") ? Mount::Kind::kHostPath
                                          : Mount::Kind::kClaim;
    if (mount.kind == Mount::Kind::kMemory) {
      mount.size_bytes = bytes_of(item.at({"tmpfs", "size"}));
    }
    around.mounts.push_back(std::move(mount));
    return;
  }
  around.mounts.push_back(read_volume(item.scalar(), item.where));
}

void read_devices(const Node& service, Surroundings& around) {
  const Node* devices = service.at({"deploy", "resources", "reservations", "devices"});
  if (devices == nullptr) return;
  for (const NodePtr& device : devices->items) {
    const Node* ids = device->find("device_ids");
    if (ids == nullptr) continue;
    around.gpu_devices_where = ids->where;
    for (const NodePtr& id : ids->items) {
      if (word_of(*id).known && id->scalar().find('$') == std::string_view::npos) {
        around.gpu_devices.emplace_back(id->scalar());
      }
    }
  }
}

/// "/dev/shm" or "/run:size=64m", one or a list.
void add_tmpfs(const Node* node, Surroundings& around) {
  if (node == nullptr) return;
  const auto add = [&](const Node& item) {
    const std::string_view text = item.scalar();
    Mount mount;
    mount.kind = Mount::Kind::kMemory;
    mount.path = std::string(text.substr(0, text.find(':')));
    mount.where = item.where;
    around.mounts.push_back(std::move(mount));
  };
  if (node->is_scalar()) add(*node);
  for (const NodePtr& item : node->items) add(*item);
}

void read_gpu_access(const Node& service, Surroundings& around) {
  around.other_gpu_access = has_text(service.find("privileged"), "true");
  for (const std::string_view key : {"runtime", "devices", "gpus", "cdi_devices"}) {
    around.other_gpu_access = around.other_gpu_access || service.find(key) != nullptr;
  }
  if (service.at({"deploy", "resources", "reservations", "devices"}) != nullptr ||
      service.at({"deploy", "resources", "reservations", "generic_resources"}) != nullptr) {
    around.other_gpu_access = true;
  }
}

std::optional<Located<double>> cores_of(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  const auto cores = parse_quantity(node->scalar());
  return cores ? std::optional(Located<double>{*cores, node->where}) : std::nullopt;
}

void read_dependencies(const Node& service, Surroundings& around) {
  const Node* list = service.find("depends_on");
  if (list == nullptr) return;
  for (const Entry& entry : list->entries) {
    if (has_text(entry.value->find("condition"), "service_healthy")) {
      around.starts_after_healthy.push_back(entry.key.str());
    }
  }
}

/// Colons outside of `${…}`.
int count_colons(std::string_view text) {
  int depth = 0;
  int colons = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ':' && depth == 0) ++colons;
  }
  return colons;
}

/// Whether "8000:8000" or "IP:8000:8000" is reached from other machines. An address that only the
/// caller's environment knows is taken for a local one.
bool is_published_to_all(const Node& item) {
  const Node* host = item.find("host_ip");
  if (host == nullptr && item.is_mapping()) return item.find("published") != nullptr;
  const Word word = interpolate(host != nullptr ? *host : item);
  const std::string_view text = word.text.view();
  if (!word.known) return host == nullptr && count_colons(text) < 2;
  return !text.starts_with("127.") && !text.starts_with("localhost") && !text.starts_with("[::1]");
}

void read_ports(const Node& service, Surroundings& around) {
  const Node* ports = service.find("ports");
  if (ports == nullptr) return;
  for (const NodePtr& item : ports->items) {
    if (!is_published_to_all(*item)) continue;
    around.exposures.push_back({"a port published on every interface", item->where});
  }
}

}  // namespace

std::shared_ptr<const Surroundings> service_surroundings(const Node& service) {
  auto around = std::make_shared<Surroundings>();
  around->compose = true;
  around->controlled = true;
  around->more_variables = service.find("env_file") != nullptr;
  around->whole = (service.find("image") != nullptr || service.find("build") != nullptr) &&
                  service.find("extends") == nullptr;
  const Node* ipc = service.find("ipc");
  const std::string_view shared = ipc == nullptr ? std::string_view() : ipc->scalar();
  around->host_ipc =
      shared == "host" || shared.starts_with("service:") || shared.starts_with("container:");
  around->host_network = has_text(service.find("network_mode"), "host");
  around->shm_bytes = bytes_of(service.find("shm_size"));
  around->memory_limit_bytes = bytes_of(service.at({"deploy", "resources", "limits", "memory"}));
  if (!around->memory_limit_bytes) around->memory_limit_bytes = bytes_of(service.find("mem_limit"));
  around->read_only_root = has_text(service.find("read_only"), "true");
  if (const Node* profiles = service.find("profiles")) {
    for (const NodePtr& item : profiles->items) around->profiles.emplace_back(item->scalar());
  }
  const Node* user = service.find("user");
  if (const auto id = number_of(user)) around->run_as_user = {id->value, user->where};
  if (const Node* volumes = service.find("volumes")) {
    for (const NodePtr& item : volumes->items) add_volume(*item, *around);
  }
  around->cpu_limit = cores_of(service.at({"deploy", "resources", "limits", "cpus"}));
  if (!around->cpu_limit) around->cpu_limit = cores_of(service.find("cpus"));
  add_tmpfs(service.find("tmpfs"), *around);
  read_gpu_access(service, *around);
  read_devices(service, *around);
  read_dependencies(service, *around);
  read_ports(service, *around);
  return around;
}

}  // namespace kvbudget
