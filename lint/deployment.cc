#include "lint/deployment.h"

#include <algorithm>
#include <iterator>

#include "lint/engine/numbers.h"
#include "lint/engine/table.h"
#include "lint/memory/bytes.h"

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

}  // namespace

bool Deployment::spans_other_machines() const {
  return start.joins_ray_cluster || settings.text("distributed-executor-backend") == "ray" ||
         settings.is_true("headless") || settings.text("data-parallel-backend") == "ray" ||
         (settings.has("nnodes") && !start.nodes);
}

uint64_t Deployment::local_ranks() const {
  uint64_t data = one_data_rank_a_command(settings) ? 1 : engine.data_parallel;
  if (settings.has("data-parallel-size-local")) {
    data = at_least_one(settings.integer("data-parallel-size-local"));
  }
  const uint64_t of_model = uint64_t{engine.tensor_parallel} * engine.pipeline_parallel;
  return memory::mul(memory::mul(of_model, std::max(engine.prefill_context_parallel, 1U)), data);
}

bool Deployment::divides_over_slices() const {
  return gpu && gpu->is_slice() && uint64_t{engine.tensor_parallel} * engine.pipeline_parallel > 1;
}

bool Deployment::lacks_gpus() const {
  if (divides_over_slices() && !spans_other_machines()) return true;
  return gpu_count != 0 && !spans_other_machines() && local_ranks() > gpu_count;
}

memory::GpuMemory Deployment::card() const {
  return {gpu->memory_bytes, gpu->capability.major, gpu->capability.minor, gpu->memory_low_bytes,
          gpu->memory_high_bytes};
}

Location Deployment::where_of(std::string_view setting) const {
  const Setting* found = settings.find(setting);
  return found != nullptr && found->where ? found->where : start.where;
}

bool Deployment::reads(std::string_view setting) const {
  return !settings.opaque_words &&
         std::find(unreadable.begin(), unreadable.end(), setting) == unreadable.end();
}

std::vector<uint32_t> Deployment::stated_pipeline_layers() const {
  const EnvVar* variable = env("VLLM_PP_LAYER_PARTITION");
  if (variable == nullptr || !variable->known) return {};
  std::vector<uint32_t> layers;
  for (const std::string_view piece : split(variable->value.view(), ',')) {
    const std::optional<int64_t> count = python_int(piece);
    if (!count || *count < 0 || *count > UINT16_MAX) return {};
    layers.push_back(static_cast<uint32_t>(*count));
  }
  return layers;
}

const EnvVar* Deployment::env(std::string_view name) const {
  // The last of two wins, as in a shell and in a container's list.
  const EnvVar* found = nullptr;
  for (const EnvVar& variable : start.env) {
    if (variable.name.view() == name) found = &variable;
  }
  return found;
}

std::optional<bool> Deployment::switched(std::string_view variable) const {
  const EnvVar* found = env(variable);
  if (found == nullptr || !found->known || found->value.empty()) return std::nullopt;
  return found->value.view() != "0";
}

bool Deployment::profiles_every_sequence() const {
  return engine.v0_engine && shape && shape->multimodal &&
         shape->has_cache(memory::CacheKind::kCross);
}

double Deployment::watermark() const {
  return std::clamp(settings.real("watermark").value_or(0.0), 0.0, 1.0);
}

}  // namespace kvbudget
