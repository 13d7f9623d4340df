// Files that a pod gets from ConfigMaps of the same manifest: start scripts, vLLM's config file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/read/kubernetes_pod.h"

namespace kvbudget {

struct MountedFile {
  std::string path;  ///< in the container
  const Node* text = nullptr;
};

/// The files that `container` of the pod `spec` can see.
std::vector<MountedFile> mounted_files(const Node& container, const Node& spec,
                                       const ConfigMaps& configs);

/// The first file whose name the command mentions (`sh /scripts/start.sh`, `cd /work &&
/// ./start.sh`).
const MountedFile* find_script(const std::vector<MountedFile>& files,
                               const std::vector<Word>& command);

/// Those whose names end in .json.
std::vector<MountedJson> mounted_json(const std::vector<MountedFile>& files,
                                      const ConfigMaps& configs);

/// The settings of the file that `--config` names, when it is mounted; nothing otherwise. They keep
/// pointing into the manifest.
std::vector<ConfigKey> mounted_config(const std::vector<MountedFile>& files,
                                      const ConfigMaps& configs, const std::vector<Word>& argv);

}  // namespace kvbudget
