// The file system as the linter needs it: an interface, so that tests keep their files in memory
// and a revision of a repository can stand in for the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The folder that holds `path`; "." at the top of relative paths, empty above the root.
std::string parent_folder(const std::string& path);

/// "dir/file" for a folder that may end in a slash or be ".".
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace kvbudget
