#include "lint/deployment.h"

#include <algorithm>
#include <iterator>

namespace kvbudget {
namespace {

uint64_t at_least_one(std::optional<int64_t> value) {
  return value && *value > 0 ? static_cast<uint64_t>(*value) : 1;
}

// With one of these each rank of data parallelism is a process of its own, started by its own
// command.
bool one_data_rank_a_command(const Settings& settings) {
  constexpr const char* kNames[] = {"data-parallel-rank", "data-parallel-external-lb",
                                    "data-parallel-start-rank"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return settings.has(name); });
}

bool spans_other_machines(const Deployment& d) {
  return d.start.joins_ray_cluster || d.settings.text("distributed-executor-backend") == "ray" ||
         d.settings.is_true("headless") || d.settings.text("data-parallel-backend") == "ray" ||
         (d.settings.has("nnodes") && !d.start.nodes);
}

}  // namespace

uint64_t Deployment::local_ranks() const {
  uint64_t data = one_data_rank_a_command(settings) ? 1 : engine.data_parallel;
  if (settings.has("data-parallel-size-local")) {
    data = at_least_one(settings.integer("data-parallel-size-local"));
  }
  return uint64_t{engine.tensor_parallel} * engine.pipeline_parallel *
         std::max(engine.prefill_context_parallel, 1U) * data;
}

bool Deployment::lacks_gpus() const {
  return gpu_count != 0 && !spans_other_machines(*this) && local_ranks() > gpu_count;
}

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
