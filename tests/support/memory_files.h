// A file system in memory. Folders are what the paths of the files imply.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lint/files.h"

namespace kvbudget {

class MemoryFiles : public FileSystem {
 public:
  MemoryFiles(std::initializer_list<std::pair<const std::string, std::string>> files)
      : files_(files) {}

  std::set<std::string> denied;  ///< files and folders that are there but cannot be read
  const std::string& text(const std::string& path) const { return files_.at(path); }

  FileKind kind(const std::string& path) const override {
    if (files_.contains(path)) return FileKind::kFile;
    return is_folder(path) ? FileKind::kFolder : FileKind::kMissing;
  }

  ReadResult read(const std::string& path, uint64_t max_bytes) const override {
    ReadResult result;
    const auto file = files_.find(path);
    if (file == files_.end()) result.error = "no such file or directory";
    if (denied.contains(path)) result.error = "permission denied";
    if (!result.error.empty()) return result;
    result.file_bytes = file->second.size();
    if (result.file_bytes <= max_bytes) result.bytes = file->second;
    return result;
  }

  FolderResult list(const std::string& path) const override {
    FolderResult result;
    if (denied.contains(path)) result.error = "permission denied";
    if (!result.error.empty()) return result;
    std::map<std::string, FileKind> entries;
    const std::string prefix = path == "." ? "" : join_path(path, "");
    for (const auto& [name, text] : files_) {
      if (!name.starts_with(prefix)) continue;
      const std::string rest = name.substr(prefix.size());
      const size_t slash = rest.find('/');
      entries[rest.substr(0, slash)] =
          slash == std::string::npos ? FileKind::kFile : FileKind::kFolder;
    }
    for (const auto& [name, kind] : entries) result.entries.push_back({name, kind});
    return result;
  }

  std::string write(const std::string& path, std::string_view text) override {
    if (denied.contains(path)) return "permission denied";
    files_[path] = text;
    return "";
  }

 private:
  bool is_folder(const std::string& path) const {
    if (path == ".") return true;
    const std::string prefix = join_path(path, "");
    return std::any_of(files_.begin(), files_.end(),
                       [&](const auto& file) { return file.first.starts_with(prefix); });
  }

  std::map<std::string, std::string> files_;
};

}  // namespace kvbudget
