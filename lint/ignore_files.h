// The .gitignore files that hold for a path: of its folder and of those above, up to the root of
// the repository. The nearest that says something decides.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lint/files.h"
#include "lint/path_patterns.h"

namespace kvbudget {

class IgnoreFiles {
 public:
  explicit IgnoreFiles(const FileSystem& files) : files_(files) {}

  /// `path` was met in a folder that is not ignored itself.
  bool covers(const std::string& path, bool is_folder);

 private:
  struct Folder {
    PathPatterns patterns;
    bool is_root = false;  ///< of a repository: what lies above has no say
  };
  const Folder& folder(const std::string& path);

  const FileSystem& files_;
  std::map<std::string, Folder> folders_;
};

}  // namespace kvbudget
