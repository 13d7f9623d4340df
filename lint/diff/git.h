// The repository of the working tree, asked through the `git` program: revisions, their files and
// the bytes of those. Nothing is fetched, nothing is written, and no word of the user can become an
// option.
//
// Source: git-rev-parse(1), git-ls-tree(1), git-cat-file(1); `--end-of-options` from git 2.30 on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "lint/diff/process.h"
#include "lint/read/file_system.h"

namespace kvbudget {

struct GitEntry {
  enum class Kind { kFile, kLink, kRepository };  ///< kRepository: a submodule
  Kind kind = Kind::kFile;
  std::string object;  ///< id of its bytes
};
/// By path from the root of the repository.
using GitTree = std::map<std::string, GitEntry>;

/// read() is safe to use from several threads.
class GitRepository {
 public:
  /// The repository that holds the current folder; `error` is filled when there is none.
  static std::unique_ptr<GitRepository> find(std::string& error);

  const std::string& root() const { return root_; }

  /// The id of a commit, by any name that git knows; else `error` says what to do.
  std::optional<std::string> commit(const std::string& revision, std::string& error) const;
  /// Where two commits parted.
  std::optional<std::string> merge_base(const std::string& a, const std::string& b,
                                        std::string& error) const;
  std::optional<GitTree> tree(const std::string& commit, std::string& error) const;
  /// The bytes of a file of at most `max_bytes`.
  ReadResult read(const std::string& object, uint64_t max_bytes);

 private:
  explicit GitRepository(std::string root) : root_(std::move(root)) {}
  std::string shallow_hint() const;

  std::string root_;
  std::mutex mutex_;
  std::unique_ptr<Conversation> reader_;  ///< git cat-file --batch
};

}  // namespace kvbudget
