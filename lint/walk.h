// From the paths of the command line to the files to read, in an order that never changes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/files.h"

namespace kvbudget {

/// A path that could not be followed.
struct PathError {
  std::string path;
  std::string reason;  ///< "no such file or folder"
};

struct FoundFile {
  std::string path;
  bool named = false;  ///< stands on the command line itself, so it is read whatever it is called
};

struct WalkResult {
  std::vector<FoundFile> files;  ///< in the order of `paths`, sorted within a folder, each once
  std::vector<PathError> errors;
};

/// Whether a file or folder that was met, not named, is to be left out.
using SkipPath = std::function<bool(const std::string& path)>;

/// `-` (standard input) stays as it is. What .gitignore files of the folders on the way name is
/// left out, up to the repository's root.
WalkResult walk(const FileSystem& files, const std::vector<std::string>& paths,
                const SkipPath& skip = {});

/// Whether a file found in a folder can hold an engine start, by its name.
bool is_candidate(std::string_view file_name);
/// The most bytes that a file of that name has when people write it by hand.
uint64_t candidate_max_bytes(std::string_view file_name);
/// Whether the bytes are no text.
bool looks_binary(std::string_view bytes);

}  // namespace kvbudget
