#include "lint/inputs.h"

#include <charconv>
#include <utility>
#include <vector>

#include "lint/engine/nearest.h"

namespace kvbudget {

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kUnits[] = {{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"GB", 1e9}, {"MB", 1e6}};
constexpr double kMaxCardBytes = 1e15;  // far above any card, far below the end of uint64_t

// "NAME" or "NAME:COUNT".
struct GpuWord {
  std::string_view name;
  uint32_t count = 0;
  bool valid = true;
};

GpuWord split_gpu(std::string_view text) {
  GpuWord word{text};
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return word;
  const std::string_view digits = text.substr(colon + 1);
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, word.count);
  word.name = text.substr(0, colon);
  word.valid = error == std::errc() && rest == end && word.count > 0 && !word.name.empty();
  return word;
}

// Cards whose names start alike ("A100" is sold with 40 and with 80 GB), or the nearest name.
std::string unknown_gpu(std::string_view name) {
  std::string alike;
  std::vector<std::string_view> names;
  for (const Gpu& gpu : all_gpus()) {
    names.push_back(gpu.name);
    if (gpu.name.starts_with(name)) alike += (alike.empty() ? "" : ", ") + gpu.name;
  }
  if (!alike.empty()) return "which one: " + alike + "?";
  return "unknown card" +
         did_you_mean(name, names,
                      "'kvbudget gpus' lists the known ones, and its memory describes any other");
}

std::string read_gpu(const Options& options, Inputs& inputs) {
  const CardResult card = read_card(options.gpu, options.gpu_memory);
  if (!card.error.empty()) {
    return (card.about_memory ? "--gpu-memory " + options.gpu_memory : "--gpu " + options.gpu) +
           ": " + card.error;
  }
  inputs.gpu = card.gpu;
  inputs.gpu_count = card.count;
  return "";
}

std::string read_since(const std::string& text, Inputs& inputs) {
  if (text.empty()) return "";
  inputs.since = parse_engine(text);
  return inputs.since ? "" : "--since " + text + ": expected vllm@VERSION, such as vllm@0.19.0";
}

std::string read_engine(const std::string& text, Inputs& inputs) {
  if (text.empty()) return "";
  inputs.engine = parse_engine(text);
  return inputs.engine ? "" : "--engine " + text + ": expected vllm@VERSION, such as vllm@0.19.0";
}

// "PATH" or "ID=PATH"; a path that exists as it stands is no pair.
ModelSources::Given split_model_config(const std::string& text, const FileSystem& files) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || files.kind(text) != FileKind::kMissing) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string read_models(const Options& options, const FileSystem& files, ModelSources& models) {
  for (const std::string& text : options.model_configs) {
    ModelSources::Given given = split_model_config(text, files);
    if (files.kind(given.path) == FileKind::kMissing) {
      return "--model-config " + given.path + ": no such file or folder";
    }
    models.configs.push_back(std::move(given));
  }
  for (const std::string& folder : options.model_dirs) {
    if (files.kind(folder) != FileKind::kFolder) return "--models " + folder + ": no such folder";
    models.folders.push_back(folder);
  }
  models.hub_cache = default_hub_cache();
  return "";
}

std::string read_hub(const Options& options, Inputs& inputs) {
  if (!options.hub) return "";
  std::string error;
  inputs.hub = std::make_shared<Hub>(hub_options(error));
  inputs.models.folders.push_back(inputs.hub->folder());
  return error;
}

}  // namespace

std::optional<uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0)) return std::nullopt;
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    const double bytes = number * known.bytes;
    if (bytes < 1 || bytes > kMaxCardBytes) return std::nullopt;
    return static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

Inputs with_project(const Inputs& inputs, ProjectSettings project) {
  Inputs result = inputs;
  ModelSources& models = result.models;
  models.configs.insert(models.configs.end(), project.model_configs.begin(),
                        project.model_configs.end());
  models.folders.insert(models.folders.end(), project.model_folders.begin(),
                        project.model_folders.end());
  result.project = std::move(project);
  return result;
}

std::optional<Version> parse_engine(std::string_view text) {
  constexpr std::string_view kPrefix = "vllm@";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return parse_version(text.substr(kPrefix.size()));
}

CardResult read_card(std::string_view name, std::string_view memory) {
  CardResult result;
  std::optional<uint64_t> memory_bytes;
  if (!memory.empty()) {
    memory_bytes = parse_bytes(memory);
    result.about_memory = !memory_bytes;
    if (!memory_bytes) result.error = "expected a size with its unit, such as 23.5GiB";
    if (!memory_bytes) return result;
  }
  if (!name.empty()) {
    const GpuWord word = split_gpu(name);
    const Gpu* known = word.valid ? find_gpu(word.name) : nullptr;
    if (!word.valid) result.error = "expected NAME or NAME:COUNT, such as L4:2";
    if (word.valid && known == nullptr && !memory_bytes) result.error = unknown_gpu(word.name);
    if (!result.error.empty()) return result;
    result.gpu = known != nullptr ? *known : Gpu{};
    if (known == nullptr) result.gpu->name = word.name;
    result.count = word.count;
  }
  if (!memory_bytes) return result;
  if (!result.gpu) result.gpu.emplace().name = std::string(memory) + " card";
  result.gpu->memory_bytes = *memory_bytes;
  result.gpu->source = "given";
  return result;
}

InputsResult read_inputs(const Options& options, SourceStore& sources) {
  InputsResult result;
  Inputs inputs;
  inputs.sources = &sources;
  result.error = read_gpu(options, inputs);
  if (result.error.empty()) result.error = read_engine(options.engine, inputs);
  if (result.error.empty()) result.error = read_since(options.since, inputs);
  if (result.error.empty()) result.error = read_hub(options, inputs);
  if (!result.error.empty()) return result;
  result.error = read_models(options, sources.files(), inputs.models);
  result.code = kFailed;
  if (result.error.empty()) result.inputs = std::move(inputs);
  return result;
}

}  // namespace kvbudget
