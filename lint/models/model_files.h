// Reading the files of a model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lint/models/catalogue.h"

namespace kvbudget::models {

struct FileText {
  std::optional<std::string> text;
  std::string error;  ///< why not; "no such file" when it does not exist
};

/// A regular file of at most 16 MiB.
FileText read_file(const FileSystem& files, const std::filesystem::path& path);

/// Files of a model from its config.json (any name) or its folder. What lies beside the config
/// comes along: in a folder under the usual names, beside "org__name.json" as "org__name.<name>".
FindResult read_model_files(const FileSystem& files, const std::filesystem::path& path,
                            std::string id);

/// The catalogue's entry, ignoring case when no id matches exactly.
std::optional<ModelFiles> built_in_model(std::string_view id);

}  // namespace kvbudget::models
