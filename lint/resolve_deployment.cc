#include "lint/resolve_deployment.h"

#include <algorithm>
#include <utility>

#include "lint/engine/architectures.h"
#include "lint/engine/flags.h"
#include "lint/engine/image.h"
#include "lint/engine/json_text.h"
#include "lint/engine/resolve.h"
#include "lint/find_draft.h"
#include "lint/find_plans.h"
#include "lint/models/online_quantization.h"
#include "lint/not_followed.h"

namespace kvbudget {
namespace {

// A release newer than the data is judged as the newest known one, and said to be.
void set_version(Deployment& d, Version stated) {
  d.version_assumed = newest_version() < stated;
  d.version = std::min(stated, newest_version());
}

void find_version(Deployment& d, const Inputs& inputs) {
  d.version = newest_version();
  if (inputs.engine) return set_version(d, *inputs.engine);
  std::optional<Version> stated;
  if (d.start.version) stated = parse_version(d.start.version->view());
  if (!stated && d.start.image && d.start.image_known) {
    stated = image_version(d.start.image->view());
  }
  if (!stated) stated = inputs.project.engine;
  if (stated) set_version(d, *stated);
}

std::string folder_of(const SourceFile* file) {
  return file == nullptr ? "." : parent_folder(file->path());
}

// The file behind `--config`, read beside the file that names it. Its tree is needed only while
// settings are read.
Document read_config_file(const Deployment& d, const Inputs& inputs) {
  const std::string path = config_file_of(d.start);
  if (path.empty() || inputs.sources == nullptr || !d.start.config.empty()) return {};
  std::string error;
  const std::string full = path.front() == '/' ? path : join_path(folder_of(d.start.file), path);
  const SourceFile* file = inputs.sources->open(full, &error);
  return file != nullptr ? parse_yaml(*file) : Document{};
}

void find_settings(Deployment& d, const Inputs& inputs) {
  const Document config = read_config_file(d, inputs);
  const Node* root = config.roots.empty() ? nullptr : config.roots.front().get();
  d.settings = read_settings(d.start, d.version, root);
  const std::string path = config_file_of(d.start);
  if (!path.empty() && root == nullptr && d.start.config.empty()) {
    d.add_missing("config file", "the settings of --config " + path + " could not be read",
                  "lint it from a folder that holds " + path);
  }
  if (d.settings.opaque_words) {
    d.add_missing("arguments",
                  "part of the command line is decided elsewhere (a variable or a template)",
                  "lint the rendered file");
  }
}

// --quantization on a plain checkpoint converts it while it is loaded.
std::shared_ptr<const memory::ModelShape> with_online_quantization(
    const Deployment& d, std::shared_ptr<const memory::ModelShape> shape) {
  const std::string method = d.settings.text("quantization");
  if (method.empty() || !shape->quantization.empty()) return shape;
  auto converted = std::make_shared<memory::ModelShape>(*shape);
  if (!models::quantize_online(*converted, method)) return shape;
  return converted;
}

void find_model(Deployment& d, const Inputs& inputs) {
  if (!d.settings.model || !d.settings.model_known) {
    if (inputs.models.configs.empty() || d.settings.model) {
      d.add_missing("model",
                    d.settings.model ? "the model is decided elsewhere: " + d.settings.model->value
                                     : "the file names no model",
                    "pass --model-config PATH");
      if (inputs.models.configs.empty()) return;
    }
  } else {
    d.model = d.settings.model->value;
    d.model_where = d.settings.model->where;
  }
  const ReadModel& read =
      inputs.memo->read(inputs.models, d.model, folder_of(d.start.file), inputs.hub.get());
  if (!read.shape) {
    d.add_missing("model config", read.error,
                  read.source.empty()
                      ? "pass --model-config " + (d.model.empty() ? "" : d.model + "=") + "PATH"
                      : "report the architecture");
    return;
  }
  d.shape = with_online_quantization(d, read.shape);
  if (d.shape != read.shape) d.as_stored = read.shape;
  d.config_source = read.source;
  d.config_sha256 = read.config_sha256;
}

// A MIG slice is a smaller card: its profile is in the resource's name or behind the product's.
const Gpu* named_gpu(const GpuRequest& request) {
  constexpr std::string_view kMig = "nvidia.com/mig-";
  const bool slice = request.resource.starts_with(kMig);
  if (!request.name) return slice ? find_gpu(request.resource) : nullptr;
  if (slice) return find_gpu(request.name->value + "-MIG-" + request.resource.substr(kMig.size()));
  return find_gpu(request.name->value);
}

// Variables that leave an engine some of the machine's cards: CUDA's, ROCm's, Level Zero's, and the
// one of NVIDIA's container runtime.
const EnvVar* visible_devices_of(const Deployment& d) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                           "ZE_AFFINITY_MASK", "NVIDIA_VISIBLE_DEVICES"}) {
    const EnvVar* devices = d.env(name);
    if (devices != nullptr && devices->known) return devices;
  }
  return nullptr;
}

// How many entries it has, 0 when it says nothing about the number. CUDA stops at the first entry
// that is no device: "-1" and "none" hide every card, which is another mistake.
uint32_t visible_devices(const Deployment& d) {
  const EnvVar* devices = visible_devices_of(d);
  if (devices == nullptr) return 0;
  uint32_t count = 0;
  std::string_view rest = devices->value.view();
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const bool device = entry.starts_with("GPU-") || entry.starts_with("MIG-") ||
                        (!entry.empty() && entry.find_first_not_of("0123456789") == entry.npos);
    if (!device) return count;
    ++count;
  }
  return count;
}

uint32_t times(uint32_t gpus, uint32_t nodes) {
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{gpus} * nodes, UINT32_MAX));
}

void find_gpu_count(Deployment& d, const Inputs& inputs, uint32_t of_instance) {
  const uint32_t nodes = d.start.nodes ? d.start.nodes->value : 1;
  const uint32_t visible = visible_devices(d);
  if (inputs.gpu_count != 0) {
    d.gpu_count = inputs.gpu_count;
  } else if (d.start.gpu.count) {
    d.gpu_count = times(d.start.gpu.count->value, nodes);
    d.gpu_count_where = d.start.gpu.count->where;
  } else {
    d.gpu_count = times(of_instance, nodes);
  }
  if (visible != 0 && (d.gpu_count == 0 || visible < d.gpu_count) && nodes == 1) {
    d.gpu_count = visible;
    d.gpu_count_where = visible_devices_of(d)->value.location();
  }
}

std::string why_no_gpu(const GpuRequest& asked) {
  if (asked.name) return "unknown or ambiguous GPU name '" + asked.name->value + "'";
  if (asked.choices.empty()) return "the file names no GPU type";
  std::string text = "the file leaves open which GPU it will be:";
  for (const Located<std::string>& choice : asked.choices) {
    text += (&choice == &asked.choices.front() ? " " : ", ") + choice.value;
  }
  return text;
}

void find_gpus(Deployment& d, const Inputs& inputs) {
  uint32_t of_instance = 0;
  if (inputs.gpu) {
    d.gpu = inputs.gpu;
  } else if (const Gpu* card = named_gpu(d.start.gpu)) {
    d.gpu = *card;
  } else if (d.start.gpu.name) {
    if (const auto instance = find_instance_type(d.start.gpu.name->value)) {
      of_instance = instance->count;
      if (const Gpu* of_type = find_gpu(instance->gpu)) d.gpu = *of_type;
    }
  }
  find_gpu_count(d, inputs, of_instance);
  // A card that is given for many files is none of this one's.
  if (d.start.image && d.start.image_known && runs_on_cpu(d.start.image->view())) {
    d.gpu.reset();
    d.add_missing("gpu", "the image is a build for CPUs, whose memory is not followed",
                  "judge this one by hand");
    return;
  }
  const ProjectSettings& project = inputs.project;
  if (d.gpu_count == 0) d.gpu_count = project.gpu_count;
  if (!d.gpu && !d.start.gpu.name) d.gpu = project.gpu;
  if (d.gpu) return;
  d.add_missing("gpu", why_no_gpu(d.start.gpu), "pass --gpu NAME");
}

// Overrides of the model's config change its length and shape in ways that are not followed.
bool length_is_checked(const Deployment& d) {
  if (d.settings.has("hf-overrides") || d.settings.has("rope-scaling")) return false;
  const EnvVar* guard = d.env("VLLM_ALLOW_LONG_MAX_MODEL_LEN");
  return guard == nullptr || (guard->known && (guard->value.view() == "0" || guard->value.empty()));
}

// get_pp_indices of vllm/distributed/utils.py; what it refuses is left out.
void find_pipeline_layers(Deployment& d) {
  const std::vector<uint32_t> layers = d.stated_pipeline_layers();
  uint64_t sum = 0;
  for (const uint32_t count : layers) sum += count;
  if (layers.size() != d.engine.pipeline_parallel || !d.shape || sum != d.shape->num_layers) return;
  d.engine.pipeline_layers = layers;
}

// Variables and modes that decide what the profile run measures.
void find_environment(Deployment& d) {
  find_pipeline_layers(d);
  d.engine.model_runner_v2 = d.switched("VLLM_USE_V2_MODEL_RUNNER");
  d.engine.graphs_in_budget = d.switched("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS");
  const std::string graphs =
      json_member(d.settings.text("compilation-config"), "cudagraph_mode").value_or("FULL");
  d.engine.full_cudagraphs = graphs.find("FULL") != std::string::npos;
}

void find_numbers(Deployment& d) {
  if (d.shape) {
    d.context = context_limit(*d.shape, d.version, d.settings.is_true("disable-sliding-window"));
    d.context_checked = d.context.known && length_is_checked(d);
  }
  const ResolveResult numbers = resolve(
      {d.settings, d.version, d.gpu ? &*d.gpu : nullptr, d.shape.get(), d.context.default_tokens});
  d.engine = numbers.engine;
  d.engine.release_assumed = d.version_assumed;
  d.engine.v0_engine = numbers.v0_engine;
  d.chunked_prefill = numbers.chunked_prefill;
  d.unreadable = numbers.unreadable;
  find_environment(d);
  if (d.context_checked) d.engine.model_length_limit = d.context.limit_tokens;
  name_uncounted_memory(d);
  for (const std::string& name : numbers.unreadable) {
    const auto same = [&](const MissingInput& input) { return input.what == name; };
    if (std::any_of(d.missing.begin(), d.missing.end(), same)) continue;
    d.add_missing(
        name, "the value of " + name + " is decided elsewhere, or is not one that the engine takes",
        "lint the rendered file");
  }
}

// What makes the engine's parser stop, whatever the memory; empty when nothing does.
std::string refused_by_parser(const Deployment& d) {
  if (!d.start.repeated_entry.empty()) return "the image already runs the engine";
  if (d.start.entry_replaced) return "the command is no program";
  for (const UnknownFlag& flag : d.settings.unknown_flags) {
    if (flag.certain) return "this version does not accept --" + flag.name;
  }
  if (!d.settings.refused_words.empty()) return d.settings.refused_words.front().problem;
  const std::vector<RefusedValue> values = refused_values(d.settings);
  if (values.empty()) return "";
  const RefusedValue& first = values.front();
  return "--" + first.name + " " + first.setting->value + ": " + first.problem;
}

void find_estimate(Deployment& d) {
  if (!d.missing.empty() || !d.shape || !d.gpu || !d.shape->generates) return;
  d.estimate = memory::estimate(*d.shape, d.engine, d.card());
  std::string refused = d.version_assumed ? "" : refused_by_parser(d);
  if (refused.empty() && d.lacks_gpus()) {
    refused = std::to_string(d.local_ranks()) + " ranks need as many GPUs, " +
              (d.divides_over_slices() ? "a process sees one MIG slice"
                                       : "there are " + std::to_string(d.gpu_count));
  }
  if (refused.empty()) return;
  d.estimate->verdict = memory::Verdict::kRefuses;
  d.estimate->because = refused;
}

void find_before(Deployment& d, const Inputs& inputs) {
  if (!inputs.since) return;
  Inputs old = inputs;
  old.since.reset();
  old.engine = inputs.since;
  d.before = std::make_shared<const Deployment>(resolve_deployment(d.start, old));
}

// What stands at the workload itself is nearer than the project file.
void find_workload(Deployment& d, const Inputs& inputs) {
  d.workload = inputs.project.workload;
  const Surroundings* around = d.start.around.get();
  if (around != nullptr && around->load) {
    read_workload(*around->load, d.workload, d.workload_faults);
  }
}

}  // namespace

Deployment resolve_deployment(const EngineStart& start, const Inputs& inputs) {
  Deployment d;
  d.start = start;
  find_workload(d, inputs);
  d.admission = inputs.project.admission;
  find_version(d, inputs);
  find_settings(d, inputs);
  find_model(d, inputs);
  find_draft(d, inputs, folder_of(d.start.file));
  find_plans(d, inputs, folder_of(d.start.file));
  find_gpus(d, inputs);
  name_unfollowed_inputs(d);
  find_numbers(d);
  find_estimate(d);
  find_before(d, inputs);
  return d;
}

}  // namespace kvbudget
