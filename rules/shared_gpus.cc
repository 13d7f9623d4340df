// Which devices a container sees: the ids that Compose reserves, or NVIDIA_VISIBLE_DEVICES, or the
// first `count` of the machine (countToDevices in daemon/nvidia_linux.go of moby, 20.10 to 28). Of
// these CUDA_VISIBLE_DEVICES picks, by index or by id, and an engine takes as many as it has ranks,
// from the first on.
#include "rules/shared_gpus.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace kvbudget {
namespace {

using Devices = std::vector<std::string>;

bool is_index(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Devices listed(std::string_view text) {
  Devices devices;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view entry = text.substr(0, comma);
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    devices.emplace_back(entry);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return devices;
}

Devices first_devices(uint64_t count) {
  Devices devices;
  for (uint64_t i = 0; i < count; ++i) devices.push_back(std::to_string(i));
  return devices;
}

// Settings that only run time decides may change how many GPUs an engine takes, and where.
bool is_uncertain(const Deployment& d) {
  constexpr std::string_view kWhat[] = {"arguments",
                                        "config file",
                                        "tensor-parallel-size",
                                        "pipeline-parallel-size",
                                        "data-parallel-size",
                                        "gpu-memory-utilization"};
  const bool open = std::any_of(d.missing.begin(), d.missing.end(), [&](const MissingInput& m) {
    return std::find(std::begin(kWhat), std::end(kWhat), m.what) != std::end(kWhat);
  });
  const bool idle = d.start.replicas && d.start.replicas->value == 0;
  return open || idle || d.start.joins_ray_cluster ||
         d.settings.text("distributed-executor-backend") == "ray";
}

const EnvVar* known_list(const Deployment& d, std::string_view name, bool& uncertain) {
  const EnvVar* variable = d.env(name);
  if (variable == nullptr) return nullptr;
  uncertain = uncertain || !variable->known;
  const std::string_view value = variable->value.view();
  const bool lists = !value.empty() && value != "all" && value != "void" && value != "none";
  return variable->known && lists ? variable : nullptr;
}

// What the container sees; empty: all GPUs of the machine, however many.
std::optional<Devices> container_devices(const Deployment& d, bool& uncertain) {
  const Surroundings& around = *d.start.around;
  const std::optional<Located<uint32_t>>& count = d.start.gpu.count;
  if (around.gpu_devices_where) {
    if (!count || count->value != around.gpu_devices.size()) return std::nullopt;
    return around.gpu_devices;
  }
  if (const EnvVar* listed_ids = known_list(d, "NVIDIA_VISIBLE_DEVICES", uncertain)) {
    return listed(listed_ids->value.view());
  }
  return count ? first_devices(count->value) : Devices{};
}

std::optional<Devices> visible_devices(const Deployment& d) {
  bool uncertain = false;
  const std::optional<Devices> given = container_devices(d, uncertain);
  const EnvVar* picked = known_list(d, "CUDA_VISIBLE_DEVICES", uncertain);
  if (!given || uncertain) return std::nullopt;
  if (picked == nullptr) {
    if (!given->empty()) return given;
    if (d.start.gpu.resource != "nvidia.com/gpu") return std::nullopt;
    return first_devices(d.local_ranks());
  }
  Devices devices;
  for (const std::string& entry : listed(picked->value.view())) {
    if (!is_index(entry) || given->empty()) {
      devices.push_back(entry);
    } else if (entry.size() < 4 && std::stoul(entry) < given->size()) {
      devices.push_back((*given)[std::stoul(entry)]);
    } else {
      break;  // CUDA stops at the first entry that is no device
    }
  }
  return devices;
}

Devices devices_of(const Deployment& d) {
  if (d.start.around == nullptr || !d.start.around->compose || is_uncertain(d)) return {};
  std::optional<Devices> devices = visible_devices(d);
  if (!devices) return {};
  devices->resize(std::min<uint64_t>(devices->size(), d.local_ranks()));
  return *std::move(devices);
}

bool may_not_meet(const Deployment& a, const Deployment& b) {
  const std::vector<std::string>& mine = a.start.around->profiles;
  const std::vector<std::string>& other = b.start.around->profiles;
  if (mine.empty() && other.empty()) return false;
  return std::none_of(mine.begin(), mine.end(), [&](const std::string& profile) {
    return std::find(other.begin(), other.end(), profile) != other.end();
  });
}

// Branches of one container's script are alternatives, and so may be services of two profiles.
bool run_together(std::span<const Deployment> deployments, const std::vector<size_t>& engines) {
  for (size_t i = 0; i < engines.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Deployment& a = deployments[engines[i]];
      const Deployment& b = deployments[engines[j]];
      if (a.start.around == b.start.around || may_not_meet(a, b)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<SharedGpu> shared_gpus(std::span<const Deployment> deployments) {
  std::map<std::string, std::vector<size_t>> engines_of;
  for (size_t i = 0; i < deployments.size(); ++i) {
    for (const std::string& device : devices_of(deployments[i])) engines_of[device].push_back(i);
  }
  std::map<std::vector<size_t>, Devices> devices_by_engines;
  for (const auto& [device, engines] : engines_of) {
    if (engines.size() > 1 && run_together(deployments, engines)) {
      devices_by_engines[engines].push_back(device);
    }
  }
  std::vector<SharedGpu> shared;
  for (const auto& [engines, devices] : devices_by_engines) shared.push_back({devices, engines});
  return shared;
}

std::string names_of(std::span<const Deployment> deployments, const std::vector<size_t>& engines) {
  std::string text;
  for (size_t i = 0; i < engines.size(); ++i) {
    if (i != 0) text += i + 1 == engines.size() ? " and " : ", ";
    text += deployments[engines[i]].start.name;
  }
  return text;
}

}  // namespace kvbudget
