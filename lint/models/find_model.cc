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

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
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
fs::path entry_of(const fs::path& folder, const std::string& name) {
  if (is_there(folder / name)) return folder / name;
  std::error_code error;
  const std::string wanted = lower(name);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (lower(it->path().filename().string()) == wanted) return it->path();
  }
  return {};
}

// The hub's cache: models--org--name/refs/main names the folder below snapshots.
fs::path snapshot_of(const fs::path& repository) {
  std::string commit = read_file(repository / "refs" / "main").text.value_or("");
  commit.erase(std::find_if(commit.begin(), commit.end(),
                            [](unsigned char c) { return std::isalnum(c) == 0; }),
               commit.end());
  if (!commit.empty() && is_there(repository / "snapshots" / commit / "config.json")) {
    return repository / "snapshots" / commit;
  }
  fs::path found;
  std::error_code error;
  for (fs::directory_iterator it(repository / "snapshots", error), end; !error && it != end;
       it.increment(error)) {
    if (is_there(it->path() / "config.json") && (found.empty() || it->path() < found)) {
      found = it->path();
    }
  }
  return found;
}

fs::path in_hub_cache(const fs::path& cache, std::string_view model) {
  const fs::path repository = entry_of(cache, "models--" + with_separator(model, "--"));
  return repository.empty() ? fs::path() : snapshot_of(repository);
}

fs::path in_folder(const fs::path& folder, std::string_view model) {
  fs::path nested = folder;
  for (const fs::path& segment : fs::path(model)) {
    if (!nested.empty()) nested = entry_of(nested, segment.string());
  }
  if (!nested.empty() && is_there(nested / "config.json")) return nested / "config.json";
  const fs::path flat = entry_of(folder, with_separator(model, "__") + ".json");
  return flat.empty() ? in_hub_cache(folder, model) : flat;
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
fs::path as_path(std::string_view model, std::string_view base_folder) {
  const fs::path path(model);
  for (const fs::path& candidate :
       {path.is_absolute() ? path : fs::path(base_folder) / path, path}) {
    std::error_code error;
    if (fs::is_directory(candidate, error)
            ? is_there(candidate / "config.json")
            : candidate.extension() == ".json" && is_there(candidate)) {
      return candidate;
    }
  }
  return {};
}

}  // namespace

FindResult find_model(const ModelSources& sources, std::string_view model,
                      std::string_view base_folder) {
  const std::string id(model);
  if (const ModelSources::Given* given = given_for(sources, model)) {
    return read_model_files(given->path, id);
  }
  FindResult result;
  if (model.empty() || model.find('\0') != std::string_view::npos) {
    result.error = "no model is named";
    return result;
  }
  const bool hub_id = is_hub_id(model);
  for (const std::string& folder : sources.folders) {
    const fs::path found = hub_id ? in_folder(folder, model) : fs::path();
    if (!found.empty()) return read_model_files(found, id);
  }
  const fs::path local = as_path(model, base_folder);
  if (!local.empty()) return read_model_files(local, id);
  if (hub_id && !sources.hub_cache.empty()) {
    const fs::path found = in_hub_cache(sources.hub_cache, model);
    if (!found.empty()) return read_model_files(found, id);
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
