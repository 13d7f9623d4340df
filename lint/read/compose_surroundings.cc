// Field meanings: compose-spec 2024 (services: shm_size, ipc, volumes, ports, depends_on, user).
#include "lint/read/compose_surroundings.h"

#include <string>

#include "lint/read/container.h"
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
  Mount mount;
  mount.where = item.where;
  if (item.is_mapping()) {
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
  // `${HOME:-/root}/models:/models`: colons of a variable are none of the volume's.
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : item.scalar()) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ':' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const bool named = parts.size() > 1;
  mount.path = named ? parts[1] : parts[0];
  mount.read_only = parts.size() > 2 && parts[2].find("ro") != std::string::npos;
  const bool bound = named && parts[0].find_first_of("/.~$") != std::string::npos;
  mount.kind = bound ? Mount::Kind::kHostPath : Mount::Kind::kClaim;
  around.mounts.push_back(std::move(mount));
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

void read_dependencies(const Node& service, Surroundings& around) {
  const Node* list = service.find("depends_on");
  if (list == nullptr) return;
  for (const Entry& entry : list->entries) {
    if (has_text(entry.value->find("condition"), "service_healthy")) {
      around.starts_after_healthy.push_back(entry.key.str());
    }
  }
}

void read_ports(const Node& service, Surroundings& around) {
  const Node* ports = service.find("ports");
  if (ports == nullptr) return;
  for (const NodePtr& item : ports->items) {
    const Node* host = item->find("host_ip");
    const std::string_view text = host != nullptr ? host->scalar() : item->scalar();
    const bool local = text.starts_with("127.") || text.starts_with("localhost");
    if (!local) around.exposures.push_back({"a port published on every interface", item->where});
  }
}

}  // namespace

std::shared_ptr<const Surroundings> service_surroundings(const Node& service) {
  auto around = std::make_shared<Surroundings>();
  around->compose = true;
  around->host_ipc = has_text(service.find("ipc"), "host");
  around->host_network = has_text(service.find("network_mode"), "host");
  around->shm_bytes = bytes_of(service.find("shm_size"));
  around->memory_limit_bytes = bytes_of(service.at({"deploy", "resources", "limits", "memory"}));
  if (!around->memory_limit_bytes) around->memory_limit_bytes = bytes_of(service.find("mem_limit"));
  around->read_only_root = has_text(service.find("read_only"), "true");
  const Node* user = service.find("user");
  if (const auto id = number_of(user)) around->run_as_user = {id->value, user->where};
  if (const Node* volumes = service.find("volumes")) {
    for (const NodePtr& item : volumes->items) add_volume(*item, *around);
  }
  read_devices(service, *around);
  read_dependencies(service, *around);
  read_ports(service, *around);
  return around;
}

}  // namespace kvbudget
