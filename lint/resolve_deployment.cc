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

namespace kvbudget {
namespace {

void missing(Deployment& d, std::string what, std::string detail, std::string hint) {
  d.missing.push_back({std::move(what), std::move(detail), std::move(hint)});
}

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
    missing(d, "config file", "the settings of --config " + path + " could not be read",
            "lint it from a folder that holds " + path);
  }
  if (d.settings.opaque_words) {
    missing(d, "arguments",
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
      missing(d, "model",
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
    missing(d, "model config", read.error,
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
  const ProjectSettings& project = inputs.project;
  if (d.gpu_count == 0) d.gpu_count = project.gpu_count;
  if (!d.gpu && !d.start.gpu.name) d.gpu = project.gpu;
  if (d.gpu) return;
  missing(d, "gpu",
          d.start.gpu.name ? "unknown or ambiguous GPU name '" + d.start.gpu.name->value + "'"
                           : "the file names no GPU type",
          "pass --gpu NAME");
}

// Overrides of the model's config change its length and shape in ways that are not followed.
bool length_is_checked(const Deployment& d) {
  if (d.settings.has("hf-overrides") || d.settings.has("rope-scaling")) return false;
  const EnvVar* guard = d.env("VLLM_ALLOW_LONG_MAX_MODEL_LEN");
  return guard == nullptr || (guard->known && (guard->value.view() == "0" || guard->value.empty()));
}

std::optional<bool> switched(const Deployment& d, std::string_view name) {
  const EnvVar* variable = d.env(name);
  if (variable == nullptr || !variable->known || variable->value.empty()) return std::nullopt;
  return variable->value.view() != "0";
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
  d.engine.model_runner_v2 = switched(d, "VLLM_USE_V2_MODEL_RUNNER");
  d.engine.graphs_in_budget = switched(d, "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS");
  const std::string graphs =
      json_member(d.settings.text("compilation-config"), "cudagraph_mode").value_or("FULL");
  d.engine.full_cudagraphs = graphs.find("FULL") != std::string::npos;
}

// Overrides of the shape itself would make every number that follows wrong; those of rope do not.
void check_overrides(Deployment& d) {
  const std::string overrides = d.settings.text("hf-overrides");
  constexpr const char* kShapeKeys[] = {"layer",  "head",          "hidden",
                                        "window", "architectures", "intermediate",
                                        "vocab",  "expert",        "model_type"};
  const bool changes_shape =
      std::any_of(std::begin(kShapeKeys), std::end(kShapeKeys),
                  [&](const char* key) { return overrides.find(key) != std::string::npos; });
  if (changes_shape) {
    missing(d, "model config", "hf-overrides change the model's shape",
            "pass --model-config with the changes made");
  }
}

// Memory that is real and not counted here; an estimate without it would promise too much.
void check_uncounted(Deployment& d) {
  if (d.settings.text("ec-transfer-config").find("ec_producer") != std::string::npos) {
    missing(d, "kv cache", "an encoder instance keeps no KV cache", "nothing to do");
  }
  // ModelConfig.use_mla: with the variable, and before there was one, every head has a cache of its
  // own, which is many times as large; no rule may speak of the latent one.
  const bool latent =
      d.shape && std::any_of(d.shape->caches.begin(), d.shape->caches.end(), [](const auto& cache) {
        return cache.kind == memory::CacheKind::kMla;
      });
  constexpr Version kFirstWithLatents{0, 7, 1};
  if (latent &&
      (switched(d, "VLLM_MLA_DISABLE").value_or(false) || d.version < kFirstWithLatents)) {
    missing(d, "kv cache", "latent attention is off, and the cache of its heads is not counted",
            "judge this one by hand");
    d.shape.reset();
  }
}

// EncoderDecoderModelRunner.profile_run (vllm/worker/enc_dec_model_runner.py, 0.5 to 0.10): a dummy
// image or recording for each of max_num_seqs sequences, 256 by default, so that Llama 3.2 Vision
// ran out of memory on cards that hold it four times (issues 9445, 10034).
bool profiles_every_sequence(const memory::ModelShape& shape) {
  return shape.multimodal &&
         std::any_of(shape.caches.begin(), shape.caches.end(), [](const memory::LayerCache& cache) {
           return cache.kind == memory::CacheKind::kCross;
         });
}

// What is not followed of LoRA slots.
void check_lora(Deployment& d) {
  if (d.engine.lora.slots == 0 || !d.shape) return;
  const Architecture* known = find_architecture(d.shape->architecture);
  constexpr const char* kOtherSlots[] = {"lora-target-modules", "enable-tower-connector-lora",
                                         "enable-mixed-moe-lora-format"};
  const char* const* other = std::find_if(
      std::begin(kOtherSlots), std::end(kOtherSlots),
      [&](const char* name) { return d.settings.has(name) && d.settings.text(name) != "false"; });
  if (known != nullptr && !known->has("lora")) {
    missing(d, "lora", "the engine has no LoRA for " + d.shape->architecture, "leave it out");
  } else if (other != std::end(kOtherSlots)) {
    missing(d, "lora", "which layers --" + std::string(*other) + " gives slots is not followed",
            "judge this one by hand");
  } else if (d.engine.v0_engine) {
    missing(d, "lora", "the engine before V1 leaves LoRA slots out of its budget",
            "judge this one by hand");
  }
}

// Settings that are read as text, where an unknown one would pass for one that is not given.
void check_known(Deployment& d) {
  constexpr const char* kNames[] = {"compilation-config",
                                    "cudagraph-capture-sizes",
                                    "cuda-graph-sizes",
                                    "data-parallel-size-local",
                                    "disable-sliding-window",
                                    "ec-transfer-config",
                                    "headless",
                                    "hf-overrides",
                                    "limit-mm-per-prompt",
                                    "lora-dtype",
                                    "max-cudagraph-capture-size",
                                    "optimization-level",
                                    "quantization",
                                    "rope-scaling"};
  for (const char* name : kNames) {
    const Setting* setting = d.settings.find(name);
    if (setting == nullptr || setting->known) continue;
    missing(d, name, "whether or how --" + std::string(name) + " is given is decided elsewhere",
            "lint the rendered file");
  }
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
  check_lora(d);
  if (d.context_checked) d.engine.model_length_limit = d.context.limit_tokens;
  if (d.engine.v0_engine && d.shape && profiles_every_sequence(*d.shape)) {
    missing(d, "activation",
            "the V0 engine profiles an encoder's item for every sequence, which is not counted",
            "judge this one by hand");
  }
  for (const std::string& name : numbers.unreadable) {
    const auto same = [&](const MissingInput& input) { return input.what == name; };
    if (std::any_of(d.missing.begin(), d.missing.end(), same)) continue;
    missing(d, name,
            "the value of " + name + " is decided elsewhere, or is not one that the engine takes",
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
    refused = std::to_string(d.local_ranks()) + " ranks need as many GPUs, there are " +
              std::to_string(d.gpu_count);
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
  check_overrides(d);
  check_uncounted(d);
  check_known(d);
  find_numbers(d);
  find_estimate(d);
  find_before(d, inputs);
  return d;
}

}  // namespace kvbudget
