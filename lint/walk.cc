#include "lint/walk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lint/ignore_files.h"

namespace kvbudget {

namespace {

// Where engine starts stand in public repositories: names of the files, not of their formats (the
// reader tells those apart by content). JSON is mostly data of programs, so only small files count.
struct NamePattern {
  std::string_view prefix;
  std::string_view suffix;
  uint64_t max_bytes = kMaxFileBytes;
};

constexpr NamePattern kCandidates[] = {
    {"", ".yaml"},      {"", ".yml"},        {"", ".json", 1 << 20},
    {"", ".sh"},        {"", ".bash"},       {"", ".slurm"},
    {"", ".sbatch"},    {"", ".tpl"},        {"", ".j2"},
    {"Dockerfile", ""}, {"", ".Dockerfile"}, {"Containerfile", ""},
    {"", ".service"},   {"", ".container"},  {"", ".tf"},
    {"Makefile", ""},   {"GNUmakefile", ""}, {"", ".mk"},
    {"justfile", ""},   {"Justfile", ""},    {"", ".just"},
};

// Other people's code and build products.
constexpr std::string_view kSkippedFolders[] = {
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".terraform",
};

const NamePattern* match(std::string_view name) {
  for (const NamePattern& pattern : kCandidates) {
    if (name.starts_with(pattern.prefix) && name.ends_with(pattern.suffix)) return &pattern;
  }
  return nullptr;
}

bool is_skipped(std::string_view folder) {
  return std::find(std::begin(kSkippedFolders), std::end(kSkippedFolders), folder) !=
         std::end(kSkippedFolders);
}

class Walker {
 public:
  Walker(const FileSystem& files, const SkipPath& skip)
      : files_(files), skip_(skip), ignored_(files) {}

  void visit(std::string path) {
    if (path == "-") return add(path, true);
    while (path.size() > 2 && path.starts_with("./")) path.erase(0, 2);
    switch (files_.kind(path)) {
      case FileKind::kMissing:
        result_.errors.push_back({path, "no such file or folder"});
        return;
      case FileKind::kFolder:
        return visit_folder(path);
      case FileKind::kFile:
      case FileKind::kOther:
        return add(path, true);
    }
  }

  WalkResult take() { return std::move(result_); }

 private:
  void visit_folder(const std::string& path) {
    const FolderResult folder = files_.list(path);
    if (!folder.error.empty()) result_.errors.push_back({path, folder.error});
    for (const FolderEntry& entry : folder.entries) {
      const std::string child = join_path(path, entry.name);
      const bool is_folder = entry.kind == FileKind::kFolder;
      const bool wanted = is_folder ? !is_skipped(entry.name)
                                    : entry.kind == FileKind::kFile && is_candidate(entry.name);
      if (!wanted || ignored_.covers(child, is_folder) || (skip_ && skip_(child))) continue;
      if (is_folder) visit_folder(child);
      if (!is_folder) add(child, false);
    }
  }

  void add(const std::string& path, bool named) {
    const auto [place, is_new] = seen_.try_emplace(path, result_.files.size());
    if (is_new) result_.files.push_back({path, named});
    if (named) result_.files[place->second].named = true;
  }

  const FileSystem& files_;
  const SkipPath& skip_;
  IgnoreFiles ignored_;
  std::map<std::string, size_t> seen_;  // index in result_.files
  WalkResult result_;
};

}  // namespace

WalkResult walk(const FileSystem& files, const std::vector<std::string>& paths,
                const SkipPath& skip) {
  Walker walker(files, skip);
  for (const std::string& path : paths) walker.visit(path);
  return walker.take();
}

bool is_candidate(std::string_view file_name) { return match(file_name) != nullptr; }

uint64_t candidate_max_bytes(std::string_view file_name) {
  const NamePattern* pattern = match(file_name);
  return pattern == nullptr ? kMaxFileBytes : pattern->max_bytes;
}

bool looks_binary(std::string_view bytes) {
  constexpr size_t kProbeBytes = 8192;  // as git does
  return bytes.substr(0, kProbeBytes).find('\0') != std::string_view::npos;
}

}  // namespace kvbudget
