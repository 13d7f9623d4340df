#include "lint/ignore_files.h"

namespace kvbudget {

const IgnoreFiles::Folder& IgnoreFiles::folder(const std::string& path) {
  const auto [place, is_new] = folders_.try_emplace(path);
  Folder& result = place->second;
  if (!is_new) return result;
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  const std::string file = join_path(path, ".gitignore");
  if (files_.kind(file) == FileKind::kFile) {
    const ReadResult read = files_.read(file, kMaxBytes);
    if (read.bytes) result.patterns.add_lines(*read.bytes);
  }
  result.is_root = files_.kind(join_path(path, ".git")) != FileKind::kMissing;
  return result;
}

bool IgnoreFiles::covers(const std::string& path, bool is_folder) {
  const std::string full = files_.absolute(path);
  for (std::string at = parent_folder(full); !at.empty(); at = parent_folder(at)) {
    const Folder& here = folder(at);
    const size_t skipped = at == "." ? 0 : join_path(at, "").size();
    switch (here.patterns.match(std::string_view(full).substr(skipped), is_folder)) {
      case PathPatterns::Match::kMatched:
        return true;
      case PathPatterns::Match::kTakenBack:
        return false;
      case PathPatterns::Match::kNone:
        break;
    }
    if (here.is_root) return false;
  }
  return false;
}

}  // namespace kvbudget
