// Docker Compose files (compose-spec 2024): services with command, entrypoint, environment, GPUs.

#include <algorithm>
#include <string>

#include "lint/read/compose_surroundings.h"
#include "lint/read/compose_text.h"
#include "lint/read/container.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

/// `command` and `entrypoint`: a list of words, or one string that is split like a shell would.
std::vector<Word> read_words(const Node* node) {
  if (node == nullptr) return {};
  if (node->is_scalar()) return split_words(interpolate(*node));
  std::vector<Word> words;
  for (const NodePtr& item : node->items) {
    if (item->is_scalar()) words.push_back(interpolate(*item));
  }
  return words;
}

std::vector<EnvVar> read_environment(const Node* node) {
  std::vector<EnvVar> env;
  if (node == nullptr) return env;
  for (const Entry& entry : node->entries) {
    EnvVar& variable = env.emplace_back();
    variable.name = entry.key;
    variable.known = entry.value->is_scalar();  // without a value: taken from the caller's shell
    if (!variable.known) continue;
    Word value = interpolate(*entry.value);
    variable.value = std::move(value.text);
    variable.known = value.known;
  }
  for (const NodePtr& item : node->items) {
    if (!item->is_scalar()) continue;
    const Word word = interpolate(*item);
    if (auto variable = as_assignment(word)) {
      env.push_back(std::move(*variable));
    } else {
      env.push_back({word.text, {}, false});
    }
  }
  return env;
}

/// True when the reservation is for GPUs; fills in how many.
bool read_device(const Node& device, GpuRequest& gpu) {
  const Node* capabilities = device.find("capabilities");
  const Node* driver = device.find("driver");
  const auto is_gpu = [](const NodePtr& item) {
    return item->scalar() == "gpu" || item->scalar() == "nvidia";
  };
  const bool by_capability =
      capabilities != nullptr &&
      std::any_of(capabilities->items.begin(), capabilities->items.end(), is_gpu);
  if (!by_capability && (driver == nullptr || driver->scalar() != "nvidia")) return false;
  gpu.resource = "nvidia.com/gpu";
  gpu.count = number_of(device.find("count"));
  const Node* ids = device.find("device_ids");
  if (ids == nullptr || !ids->is_sequence()) return true;
  // One entry may be a variable that stands for many devices.
  const bool known = std::all_of(ids->items.begin(), ids->items.end(), [](const NodePtr& item) {
    return item->is_scalar() && interpolate(*item).known &&
           item->scalar().find('$') == std::string_view::npos;
  });
  if (known) gpu.count = {static_cast<uint32_t>(ids->items.size()), ids->where};
  return true;
}

GpuRequest read_gpus(const Node& service) {
  GpuRequest gpu;
  if (const Node* short_form = service.find("gpus")) {
    gpu.resource = "nvidia.com/gpu";
    gpu.count = number_of(short_form);
    for (const NodePtr& device : short_form->items) read_device(*device, gpu);
  }
  if (const Node* devices = service.at({"deploy", "resources", "reservations", "devices"})) {
    for (const NodePtr& device : devices->items) {
      if (read_device(*device, gpu)) break;
    }
  }
  return gpu;
}

bool has_any(const Node& service, std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    const Node* value = service.find(key);
    return value != nullptr && value->kind != Node::Kind::kNull;
  });
}

void read_service(const SourceFile& file, const Entry& entry, FileContents& out) {
  const Node& service = *entry.value;
  EngineStart start;
  start.file = &file;
  start.kind = "compose";
  start.name = "service " + entry.key.str();
  start.where = entry.key.location();
  start.env = read_environment(service.find("environment"));
  if (const Node* image = service.find("image"); image != nullptr && image->is_scalar()) {
    Word word = interpolate(*image);
    start.image = std::move(word.text);
    start.image_known = word.known;
  }
  start.gpu = read_gpus(service);
  start.around = service_surroundings(service);
  start.replicas = number_of(service.at({"deploy", "replicas"}));
  if (!start.replicas) start.replicas = number_of(service.find("scale"));
  start.serves_traffic = has_any(service, {"ports", "expose", "healthcheck"}) ||
                         (start.replicas && start.replicas->value > 0);

  Container container;
  const Node* entrypoint = service.find("entrypoint");
  container.has_entrypoint = entrypoint != nullptr && entrypoint->kind != Node::Kind::kNull;
  container.words = read_words(entrypoint);
  const std::vector<Word> command = read_words(service.find("command"));
  container.words.insert(container.words.end(), command.begin(), command.end());
  add_container_starts(container, start, out);
}

}  // namespace

bool read_compose(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* services = root.find("services");
  if (services == nullptr || !services->is_mapping()) return false;
  const auto is_service = [](const Entry& entry) {
    const Node& value = *entry.value;
    return value.is_mapping() &&
           has_any(value, {"image", "build", "command", "extends", "entrypoint"});
  };
  if (std::none_of(services->entries.begin(), services->entries.end(), is_service)) return false;
  for (const Entry& entry : services->entries) {
    if (!entry.value->is_mapping() || !yaml.limit.spend_on(*entry.value)) continue;
    read_service(yaml.file, entry, out);
  }
  return true;
}

}  // namespace kvbudget
