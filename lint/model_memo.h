// Models that were read already: a folder of manifests names the same few again and again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "lint/hub/hub.h"
#include "lint/memory/model_shape.h"
#include "lint/models/catalogue.h"

namespace kvbudget {

/// find_model(), and what it finds nowhere from a hub that is not null, whose folder is among the
/// sources.
FindResult find_or_fetch(const ModelSources& sources, std::string_view model,
                         std::string_view base_folder, Hub* hub);

struct ReadModel {
  std::shared_ptr<const memory::ModelShape> shape;  ///< null: see `error`
  std::string source;  ///< where the config was found, empty when it was not
  std::string error;
  std::string config_sha256;  ///< of config.json
};

/// Safe to use from several threads.
class ModelMemo {
 public:
  /// The model as find_or_fetch and read_shape give it, read once for each name, folder and
  /// sources.
  const ReadModel& read(const ModelSources& sources, std::string_view model,
                        std::string_view base_folder, Hub* hub = nullptr);

 private:
  std::mutex mutex_;
  std::map<std::string, ReadModel> models_;
};

}  // namespace kvbudget
