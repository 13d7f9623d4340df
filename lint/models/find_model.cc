// Where a model's config.json may lie, in order of preference (catalogue.h).
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "lint/models/catalogue.h"
#include "lint/models/model_files.h"
#include "lint/read/text.h"

namespace kvbudget {

namespace fs = std::filesystem;
using models::read_file;
using models::read_model_files;

namespace {

bool is_there(const FileSystem& files, const fs::path& path) {
  return files.kind(path.string()) != FileKind::kMissing;
}

// "org/name" may become part of a path only if it stays below the folder it is put into.
bool is_hub_id(std::string_view model) {
  if (model.empty() || model.front() == '/' || model.find('\\') != std::string_view::npos) {
    return false;
  }
  return model.find("..") == std::string_view::npos && model.find('\0') == std::string_view::npos;
}

std::string with_separator(std::string_view model, std::string_view separator) {
  std::string result;
  for (const char c : model) {
    if (c == '/') {
      result += separator;
    } else {
      result += c;
    }
  }
  return result;
}

// An entry of `folder` by exact name, else by name without case; empty when there is none.
fs::path entry_of(const FileSystem& files, const fs::path& folder, const std::string& name) {
  if (is_there(files, folder / name)) return folder / name;
  if (files.kind(folder.string()) != FileKind::kFolder) return {};
  const std::string wanted = lower(name);
  for (const FolderEntry& entry : files.list(folder.string()).entries) {
    if (lower(entry.name) == wanted) return folder / entry.name;
  }
  return {};
}

// The hub's cache: models--org--name/refs/main names the folder below snapshots.
fs::path snapshot_of(const FileSystem& files, const fs::path& repository) {
  std::string commit = read_file(files, repository / "refs" / "main").text.value_or("");
  commit.erase(std::find_if(commit.begin(), commit.end(),
                            [](unsigned char c) { return std::isalnum(c) == 0; }),
               commit.end());
  const fs::path snapshots = repository / "snapshots";
  if (!commit.empty() && is_there(files, snapshots / commit / "config.json")) {
    return snapshots / commit;
  }
  if (files.kind(snapshots.string()) != FileKind::kFolder) return {};
  for (const FolderEntry& entry : files.list(snapshots.string()).entries) {
    if (is_there(files, snapshots / entry.name / "config.json")) return snapshots / entry.name;
  }
  return {};
}

fs::path in_hub_cache(const FileSystem& files, const fs::path& cache, std::string_view model) {
  const fs::path repository = entry_of(files, cache, "models--" + with_separator(model, "--"));
  return repository.empty() ? fs::path() : snapshot_of(files, repository);
}

fs::path in_folder(const FileSystem& files, const fs::path& folder, std::string_view model) {
  fs::path nested = folder;
  for (const fs::path& segment : fs::path(model)) {
    if (!nested.empty()) nested = entry_of(files, nested, segment.string());
  }
  if (!nested.empty() && is_there(files, nested / "config.json")) return nested / "config.json";
  const fs::path flat = entry_of(files, folder, with_separator(model, "__") + ".json");
  return flat.empty() ? in_hub_cache(files, folder, model) : flat;
}

const ModelSources::Given* given_for(const ModelSources& sources, std::string_view model) {
  const ModelSources::Given* any = nullptr;
  for (const ModelSources::Given& given : sources.configs) {
    if (given.id == model) return &given;
    if (any == nullptr && (given.id.empty() || lower(given.id) == lower(model))) any = &given;
  }
  return any;
}

// The model as a path, absolute or below `base_folder`.
fs::path as_path(const FileSystem& files, std::string_view model, std::string_view base_folder) {
  const fs::path path(model);
  for (const fs::path& candidate :
       {path.is_absolute() ? path : fs::path(base_folder) / path, path}) {
    if (files.kind(candidate.string()) == FileKind::kFolder
            ? is_there(files, candidate / "config.json")
            : candidate.extension() == ".json" && is_there(files, candidate)) {
      return candidate;
    }
  }
  return {};
}

}  // namespace

FindResult find_model(const ModelSources& sources, std::string_view model,
                      std::string_view base_folder) {
  const DiskFiles disk;
  const FileSystem& files = sources.files != nullptr ? *sources.files : disk;
  const std::string id(model);
  if (const ModelSources::Given* given = given_for(sources, model)) {
    return read_model_files(files, given->path, id);
  }
  FindResult result;
  if (model.empty() || model.find('\0') != std::string_view::npos) {
    result.error = "no model is named";
    return result;
  }
  const bool hub_id = is_hub_id(model);
  for (const std::string& folder : sources.folders) {
    const fs::path found = hub_id ? in_folder(files, folder, model) : fs::path();
    if (!found.empty()) return read_model_files(files, found, id);
  }
  const fs::path local = as_path(files, model, base_folder);
  if (!local.empty()) return read_model_files(files, local, id);
  if (hub_id && !sources.hub_cache.empty()) {
    const fs::path found = in_hub_cache(files, sources.hub_cache, model);
    if (!found.empty()) return read_model_files(files, found, id);
  }
  result.files = hub_id ? models::built_in_model(model) : std::nullopt;
  if (!result.files) {
    result.error = "no config.json for '" + id + "': not a local path, not in " +
                   (sources.folders.empty() ? "" : "the --models folders, ") +
                   (sources.hub_cache.empty() ? "" : "the Hugging Face cache, ") +
                   "the built-in catalogue";
  }
  return result;
}

std::string default_hub_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  fs::path path = variable("HF_HUB_CACHE");
  if (path.empty() && !variable("HF_HOME").empty()) path = variable("HF_HOME") / "hub";
  if (path.empty() && !variable("HOME").empty()) {
    path = variable("HOME") / ".cache" / "huggingface" / "hub";
  }
  std::error_code error;
  return fs::is_directory(path, error) ? path.string() : std::string();
}

}  // namespace kvbudget
