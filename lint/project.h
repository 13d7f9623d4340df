// `.kvbudget.yaml`: what the files of a project leave open, said once. Found by walking up from
// each file; options of the command line win over it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lint/admission.h"
#include "lint/diagnostic.h"
#include "lint/engine/gpus.h"
#include "lint/engine/version.h"
#include "lint/models/catalogue.h"
#include "lint/path_patterns.h"
#include "lint/workload.h"

namespace kvbudget {

/// Severity of a rule, or off (nullopt).
using RuleLevel = std::optional<Severity>;

struct ProjectSettings {
  std::optional<Version> engine;
  std::optional<Gpu> gpu;
  uint32_t gpu_count = 0;  ///< 0: not said
  std::vector<ModelSources::Given> model_configs;
  std::vector<std::string> model_folders;
  std::map<std::string, RuleLevel, std::less<>> rules;  ///< by id or name, as written
  Workload workload;
  Admission admission;
  std::optional<double> max_preemption_risk;
};

/// The settings of `overrides` that name a file.
struct ProjectOverride {
  PathPatterns files;
  ProjectSettings settings;
};

struct Project {
  std::string path;    ///< of the file
  std::string folder;  ///< that holds it; patterns and paths in it are relative to this
  PathPatterns exclude;
  ProjectSettings settings;
  std::vector<ProjectOverride> overrides;

  /// `file` relative to the folder; nullopt when it lies elsewhere.
  std::optional<std::string> relative(std::string_view file) const;
  bool excludes(std::string_view file) const;
  /// Settings for `file`, the last override that names it first.
  ProjectSettings settings_for(std::string_view file) const;
};

struct ProjectResult {
  std::optional<Project> project;
  std::string error;  ///< "path:3:5: unknown key 'engin'; did you mean 'engine'?"
};

ProjectResult read_project(const SourceFile& file);

constexpr const char* kProjectFileName = ".kvbudget.yaml";

}  // namespace kvbudget
