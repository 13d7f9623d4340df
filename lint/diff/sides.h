// The two things that `kvbudget diff` compares: files or folders on disk, revisions of the
// repository, the working tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lint/options.h"
#include "lint/read/file_system.h"

namespace kvbudget {

struct Side {
  std::string name;    ///< as the user wrote it; "working tree"
  std::string commit;  ///< id of the revision; empty where it is none
  std::shared_ptr<FileSystem> files;
  std::vector<std::string> paths;  ///< to look at; none where the side has none of them
  std::string folder;              ///< the two sides' paths are compared below this
};

struct Sides {
  Side base, head;
  std::string error;  ///< what is wrong; empty when nothing is
  ExitCode code = kUsage;
};

/// `BASE [HEAD]` are two paths when both are there as paths, else revisions: `main`, `v1 v2`,
/// `main..HEAD`, `main...HEAD`, where the last starts at the commit at which the two parted.
/// `from_disk` are paths that are no part of a revision, wherever they lie.
Sides find_sides(const Options& options, const std::vector<std::string>& from_disk);

}  // namespace kvbudget
