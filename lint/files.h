// Every file that was read, kept for as long as findings may point into it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/file_system.h"
#include "lint/read/source.h"

namespace kvbudget {

/// Safe to use from several threads; forget() is not.
class SourceStore {
 public:
  explicit SourceStore(FileSystem& files) : files_(files) {}

  FileSystem& files() const { return files_; }
  /// The file under `path`, read once; null with `error` filled when it cannot be read.
  const SourceFile* open(const std::string& path, std::string* error);
  /// Keeps text that was read elsewhere (standard input).
  const SourceFile* add(const std::string& path, std::string bytes);
  /// Drops every file: what pointed into them is gone, and the next open() reads anew.
  void forget() {
    sources_.clear();
    plans_.clear();
  }
  /// Names of the plans (lint/plan_file.h) in a folder, listed once.
  const std::vector<std::string>& plans_in(const std::string& folder);

 private:
  FileSystem& files_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<SourceFile>, std::less<>> sources_;
  std::map<std::string, std::vector<std::string>> plans_;  // by folder
};

}  // namespace kvbudget
