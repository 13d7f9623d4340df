// Finding a model's config.json and turning it into a shape.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/memory/model_shape.h"
#include "lint/read/file_system.h"

namespace kvbudget {

/// ModelFiles::source of the built-in catalogue.
inline constexpr const char* kBuiltInSource = "built-in catalogue";

/// The files of one model, as text. Only `config` must be there.
struct ModelFiles {
  std::string id;                 ///< "org/name" or the path that was asked for
  std::string source;             ///< where it was found, for people: a path or kBuiltInSource
  std::string config;             ///< config.json
  std::string safetensors_index;  ///< model.safetensors.index.json, empty when absent
  std::string quant_config;       ///< hf_quant_config.json (ModelOpt), empty when absent
  std::string tokenizer_config;   ///< tokenizer_config.json, empty when absent
};

/// A shape, or why there is none ("unknown architecture FooForCausalLM: key 'bar' is not
/// understood").
struct ShapeResult {
  std::shared_ptr<const memory::ModelShape> shape;
  std::string error;  ///< empty when there is a shape
};

/// Reads a config.json. Never throws; a config whose attention is not understood gives an error,
/// never a guess.
ShapeResult read_shape(const ModelFiles& files);

/// Where configs are looked for, first hit wins: --model-config, --models, the path itself, the
/// Hugging Face cache, the built-in catalogue.
struct ModelSources {
  struct Given {
    std::string id;    ///< empty: stands for every model
    std::string path;  ///< config.json or its folder
  };
  std::vector<Given> configs;
  std::vector<std::string> folders;
  std::string hub_cache;              ///< …/huggingface/hub, empty when there is none
  const FileSystem* files = nullptr;  ///< null: the disk
};

/// Files of `model` (an id or a path; relative paths are tried below `base_folder` too).
struct FindResult {
  std::optional<ModelFiles> files;
  std::string error;  ///< what was tried; a given path that cannot be read is named with the reason
};
FindResult find_model(const ModelSources& sources, std::string_view model,
                      std::string_view base_folder);

/// Ids of the built-in catalogue, sorted.
std::vector<std::string> catalogue_ids();

/// $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub, if it exists.
std::string default_hub_cache();

}  // namespace kvbudget
