// The file system as the linter needs it: an interface, so that tests keep their files in memory.
//
// SourceStore owns every file that was read for as long as findings may point into it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/source.h"

namespace kvbudget {

enum class FileKind { kMissing, kFile, kFolder, kOther };

struct ReadResult {
  std::optional<std::string> bytes;
  uint64_t file_bytes = 0;  ///< size of the file, also when it was too big to be read
  std::string error;        ///< "permission denied"; empty when the file is only too big
};

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::kOther;  ///< links to folders are kOther, links to files kFile
};

struct FolderResult {
  std::vector<FolderEntry> entries;  ///< sorted by name
  std::string error;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual FileKind kind(const std::string& path) const = 0;
  /// Reads a whole file of at most `max_bytes`.
  virtual ReadResult read(const std::string& path, uint64_t max_bytes) const = 0;
  virtual FolderResult list(const std::string& path) const = 0;
  /// The path from the root, without "." and ".."; as given where there is no root.
  virtual std::string absolute(const std::string& path) const { return path; }
  /// Replaces the file; the error is empty when that worked.
  virtual std::string write(const std::string& path, std::string_view text) = 0;
};

/// The real one.
class DiskFiles : public FileSystem {
 public:
  FileKind kind(const std::string& path) const override;
  ReadResult read(const std::string& path, uint64_t max_bytes) const override;
  FolderResult list(const std::string& path) const override;
  std::string absolute(const std::string& path) const override;
  std::string write(const std::string& path, std::string_view text) override;
};

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
  void forget() { sources_.clear(); }

 private:
  FileSystem& files_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<SourceFile>, std::less<>> sources_;
};

/// The folder that holds `path`; "." at the top of relative paths, empty above the root.
std::string parent_folder(const std::string& path);

/// "dir/file" for a folder that may end in a slash or be ".".
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace kvbudget
