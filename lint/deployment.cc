#include "lint/deployment.h"

namespace kvbudget {

memory::GpuMemory Deployment::card() const {
  return {gpu->memory_bytes, gpu->capability.major, gpu->capability.minor, gpu->memory_low_bytes,
          gpu->memory_high_bytes};
}

Location Deployment::where_of(std::string_view setting) const {
  const Setting* found = settings.find(setting);
  return found != nullptr && found->where ? found->where : start.where;
}

const EnvVar* Deployment::env(std::string_view name) const {
  // The last of two wins, as in a shell and in a container's list.
  const EnvVar* found = nullptr;
  for (const EnvVar& variable : start.env) {
    if (variable.name.view() == name) found = &variable;
  }
  return found;
}

}  // namespace kvbudget
