#include "lint/projects.h"

namespace kvbudget {
namespace {

bool is_standard_input(const std::string& path) { return path == "-" || path == "<stdin>"; }

}  // namespace

const Project* Projects::in_folder(const std::string& folder) {
  const auto [place, is_new] = by_folder_.try_emplace(folder);
  if (!is_new) return place->second.get();
  const std::string path = join_path(folder, kProjectFileName);
  if (sources_.files().kind(path) != FileKind::kFile) return nullptr;
  std::string error;
  const SourceFile* file = sources_.open(path, &error);
  if (file == nullptr) {
    errors_.push_back(path + ": " + error);
    return nullptr;
  }
  ProjectResult result = read_project(*file);
  if (!result.error.empty()) errors_.push_back(std::move(result.error));
  if (result.project) place->second = std::make_unique<Project>(std::move(*result.project));
  return place->second.get();
}

const Project* Projects::find(const std::string& absolute_path) {
  const std::lock_guard lock(mutex_);
  for (std::string folder = parent_folder(absolute_path); !folder.empty();
       folder = parent_folder(folder)) {
    if (const Project* project = in_folder(folder)) return project;
  }
  return nullptr;
}

std::string Projects::absolute(const std::string& path) const {
  return sources_.files().absolute(is_standard_input(path) ? "stdin" : path);
}

void Projects::load_for(const std::string& path) { find(absolute(path)); }

ProjectSettings Projects::settings_for(const std::string& path) {
  const std::string full = absolute(path);
  const Project* project = find(full);
  return project == nullptr ? ProjectSettings() : project->settings_for(full);
}

bool Projects::excludes(const std::string& path) {
  const std::string full = absolute(path);
  const Project* project = find(full);
  return project != nullptr && project->excludes(full);
}

std::vector<const Project*> Projects::loaded() const {
  std::vector<const Project*> result;
  for (const auto& [folder, project] : by_folder_) {
    if (project != nullptr) result.push_back(project.get());
  }
  return result;
}

}  // namespace kvbudget
