// The files of one revision, read from the repository when they are asked for; what lies outside
// of its working tree comes from the disk.
//
// Paths are those of the disk: a relative one counts from the current folder, so that findings name
// the same path for a revision as for the working tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lint/diff/git.h"
#include "lint/read/file_system.h"

namespace kvbudget {

class RevisionFiles : public FileSystem {
 public:
  /// `from_disk` are the paths that the user named beside the revision (--models): they are read
  /// from the disk, wherever they lie.
  RevisionFiles(std::shared_ptr<GitRepository> repository, GitTree tree,
                const std::vector<std::string>& from_disk);

  FileKind kind(const std::string& path) const override;
  ReadResult read(const std::string& path, uint64_t max_bytes) const override;
  FolderResult list(const std::string& path) const override;
  std::string absolute(const std::string& path) const override;
  std::string write(const std::string& path, std::string_view text) override;

 private:
  /// What stands at a path from the root, links followed.
  struct Place {
    FileKind kind = FileKind::kMissing;
    std::string path;  ///< without links
    const GitEntry* entry = nullptr;
  };

  std::optional<std::string> inside(const std::string& path) const;
  Place find(const std::string& path) const;
  Place step(const std::string& path) const;
  FileKind listed_kind(const std::string& path) const;

  std::shared_ptr<GitRepository> repository_;
  GitTree tree_;
  std::vector<std::string> from_disk_;
  DiskFiles disk_;
};

/// The disk without the repositories inside a working tree: a revision does not hold their files
/// either.
class WorkingTreeFiles : public DiskFiles {
 public:
  FolderResult list(const std::string& path) const override;
};

}  // namespace kvbudget
