// What the command line says beyond the files: GPU, engine version, where model configs are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lint/engine/gpus.h"
#include "lint/engine/version.h"
#include "lint/files.h"
#include "lint/hub/hub.h"
#include "lint/model_memo.h"
#include "lint/models/catalogue.h"
#include "lint/options.h"
#include "lint/project.h"

namespace kvbudget {

struct Inputs {
  std::optional<Gpu> gpu;         ///< --gpu and --gpu-memory
  uint32_t gpu_count = 0;         ///< of --gpu NAME:COUNT, 0 when not said
  std::optional<Version> engine;  ///< --engine
  std::optional<Version> since;   ///< --since: defaults are compared with that release's
  /// Of the project file: for what neither the command line nor the linted file says.
  ProjectSettings project;
  ModelSources models;       ///< --model-config, --models, the Hugging Face cache
  std::shared_ptr<Hub> hub;  ///< --hub; null: nothing is fetched
  std::shared_ptr<ModelMemo> memo = std::make_shared<ModelMemo>();
  SourceStore* sources = nullptr;  ///< reads further files (vLLM's --config) and keeps them
};

struct InputsResult {
  std::optional<Inputs> inputs;
  std::string error;       ///< what is wrong with which option, and the nearest correct value
  ExitCode code = kUsage;  ///< kFailed when a file is missing
};

InputsResult read_inputs(const Options& options, SourceStore& sources);

/// The inputs for one file: models of its project file are asked after those of the command line.
Inputs with_project(const Inputs& inputs, ProjectSettings project);

/// "vllm@0.19.0"; nullopt for anything else.
std::optional<Version> parse_engine(std::string_view text);

/// A card by name ("L4", "L4:2"), by its memory ("23.5GiB"), or both.
struct CardResult {
  std::optional<Gpu> gpu;
  uint32_t count = 0;  ///< 0: not said
  std::string error;   ///< what is wrong, without what it is about
  bool about_memory = false;
};
CardResult read_card(std::string_view name, std::string_view memory);

/// Bytes of "23.5GiB", "24GB", "512 MiB"; nullopt without a unit or for anything else.
std::optional<uint64_t> parse_bytes(std::string_view text);

}  // namespace kvbudget
