#include "rules/listeners.h"

#include <algorithm>
#include <optional>

namespace kvbudget {
namespace {

std::string object_of(const Deployment& d) {
  return d.start.name.substr(0, d.start.name.rfind('/'));
}

/// The port of an engine; nullopt when it is not known or the engine opens none.
std::optional<std::string> engine_port(const Deployment& d) {
  constexpr int64_t kDefault = 8000;
  if (d.settings.opaque_words || d.settings.is_true("headless") || d.start.joins_ray_cluster ||
      d.settings.has("uds")) {
    return std::nullopt;
  }
  if (!d.settings.has("port")) return std::to_string(kDefault);
  const auto port = d.settings.integer("port");
  return port ? std::optional(std::to_string(*port)) : std::nullopt;
}

/// Ports of the engine beside its API, by settings and variables that are named so; a supervisor of
/// data-parallel servers has one, and each server the next port (from 0.22).
void add_other_ports(const Deployment& d, std::set<std::string>& ports) {
  for (const auto& [name, setting] : d.settings.all()) {
    if (name.ends_with("-port") && is_port_number(setting.value)) ports.insert(setting.value);
  }
  for (const EnvVar& variable : d.start.env) {
    const std::string& value = variable.value.str();
    // Taken for the API's port by many; it is where the ports inside the engine begin.
    const bool internal = variable.name.view() == "VLLM_PORT";
    const bool port = variable.name.view().ends_with("PORT") && is_port_number(value);
    if (port && !internal) ports.insert(value);
  }
  if (!d.settings.is_true("data-parallel-multi-port-external-lb")) return;
  constexpr int64_t kSupervisor = 9256;
  ports.insert(std::to_string(kSupervisor));
  const int64_t first = d.settings.integer("port").value_or(8000);
  for (uint64_t i = 0; i < std::min<uint64_t>(d.local_ranks(), 64); ++i) {
    ports.insert(std::to_string(first + static_cast<int64_t>(i)));
  }
}

}  // namespace

bool is_port_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Listeners listeners_of(const Deployment& d, std::span<const Deployment> all) {
  Listeners result;
  for (const Deployment& other : all) {
    if (object_of(other) != object_of(d)) continue;
    const auto port = engine_port(other);
    result.known = result.known && port.has_value();
    if (port) result.ports.insert(*port);
    add_other_ports(other, result.ports);
  }
  result.certain = !d.start.around->runs_script;
  result.engine = engine_port(d).value_or("");
  for (const NamedPort& port : d.start.around->ports) {
    if (!port.own) result.ports.insert(port.number);
  }
  return result;
}

}  // namespace kvbudget
