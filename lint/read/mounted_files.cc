// Field meanings: Kubernetes API reference 1.30 (VolumeMount, ConfigMapVolumeSource).

#include "lint/read/mounted_files.h"

#include <algorithm>

#include "lint/read/manifest.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxFiles = 50;  // of one container; each is looked for in the whole command

/// Where a key of the ConfigMap ends up in the volume; empty when `items` leaves it out.
std::string path_in_volume(const Node& source, std::string_view key) {
  const Node* items = source.find("items");
  if (items == nullptr) return std::string(key);
  for (const NodePtr& item : items->items) {
    const Node* own = item->find("key");
    const Node* path = item->find("path");
    if (own != nullptr && own->scalar() == key && path != nullptr) {
      return std::string(path->scalar());
    }
  }
  return {};
}

void add_mount(const Node& mount, const Node& source, const Node& data,
               std::vector<MountedFile>& out) {
  const Node* at = mount.find("mountPath");
  if (at == nullptr || !at->is_scalar()) return;
  std::string folder(at->scalar());
  const Node* part = mount.find("subPath");
  for (const Entry& entry : data.entries) {
    if (!entry.value->is_scalar() || out.size() >= kMaxFiles) continue;
    const std::string path = path_in_volume(source, entry.key.view());
    if (path.empty()) continue;
    if (part != nullptr) {
      if (part->scalar() == path) out.push_back({folder, entry.value.get()});
    } else {
      out.push_back({folder + (folder.ends_with('/') ? "" : "/") + path, entry.value.get()});
    }
  }
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// A word of the text is `name`, with or without a folder in front.
bool mentions_file(std::string_view text, std::string_view name) {
  for (size_t i = text.find(name); i != std::string_view::npos; i = text.find(name, i + 1)) {
    constexpr std::string_view kBefore = "/ \t\n'\"";
    constexpr std::string_view kBehind = " \t\n'\";&|)";
    const size_t end = i + name.size();
    const bool begins = i == 0 || kBefore.find(text[i - 1]) != std::string_view::npos;
    const bool ends = end == text.size() || kBehind.find(text[end]) != std::string_view::npos;
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::vector<MountedFile> mounted_files(const Node& container, const Node& spec,
                                       const ConfigMaps& configs) {
  std::vector<MountedFile> files;
  const Node* mounts = container.find("volumeMounts");
  if (mounts == nullptr) return files;
  for (const NodePtr& mount : mounts->items) {
    const Node* name = mount->find("name");
    if (name == nullptr) continue;
    const Node* volume = item_named(spec.find("volumes"), name->scalar());
    const Node* source = volume == nullptr ? nullptr : volume->find("configMap");
    const Node* map = source == nullptr ? nullptr : source->find("name");
    const Node* data = map == nullptr ? nullptr : configs.find(map->scalar());
    if (data != nullptr) add_mount(*mount, *source, *data, files);
  }
  return files;
}

const MountedFile* find_script(const std::vector<MountedFile>& files,
                               const std::vector<Word>& command) {
  for (const MountedFile& file : files) {
    const std::string_view name = file_name(file.path);
    if (name.empty()) continue;
    if (std::any_of(command.begin(), command.end(),
                    [&](const Word& word) { return mentions_file(word.text.view(), name); })) {
      return &file;
    }
  }
  return nullptr;
}

std::vector<MountedJson> mounted_json(const std::vector<MountedFile>& files,
                                      const ConfigMaps& configs) {
  std::vector<MountedJson> result;
  for (const MountedFile& file : files) {
    if (!file.path.ends_with(".json") || !configs.spend_on(*file.text)) continue;
    result.push_back({file.path, file.text->text});
  }
  return result;
}

std::vector<ConfigKey> mounted_config(const std::vector<MountedFile>& files,
                                      const ConfigMaps& configs, const std::vector<Word>& argv) {
  std::vector<ConfigKey> keys;
  for (size_t i = 0; i + 1 < argv.size(); ++i) {
    if (argv[i].text.view() != "--config" || !argv[i + 1].known) continue;
    const auto named = [&](const MountedFile& f) { return f.path == argv[i + 1].text.view(); };
    const auto file = std::find_if(files.begin(), files.end(), named);
    if (file == files.end() || !configs.spend_on(*file->text)) return keys;
    const Document inner = parse_yaml(file->text->text);
    if (inner.roots.size() != 1) return keys;
    for (const Entry& entry : inner.roots.front()->entries) {
      keys.push_back({entry.key, entry.value});
    }
    return keys;
  }
  return keys;
}

}  // namespace kvbudget
