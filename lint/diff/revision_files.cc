#include "lint/diff/revision_files.h"

#include <algorithm>
#include <filesystem>

namespace kvbudget {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's
constexpr uint64_t kMaxLinkBytes = 4096;

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

RevisionFiles::RevisionFiles(std::shared_ptr<GitRepository> repository, GitTree tree,
                             const std::vector<std::string>& from_disk)
    : repository_(std::move(repository)), tree_(std::move(tree)) {
  for (const std::string& path : from_disk) from_disk_.push_back(absolute(path));
}

std::string RevisionFiles::absolute(const std::string& path) const {
  return without_slash(disk_.absolute(path));
}

// The path from the root of the repository ("" for the root itself); nullopt where the disk counts.
std::optional<std::string> RevisionFiles::inside(const std::string& path) const {
  const std::string full = absolute(path);
  const std::string& root = repository_->root();
  if (!is_below(full, root)) return std::nullopt;
  const bool given = std::any_of(from_disk_.begin(), from_disk_.end(),
                                 [&](const std::string& folder) { return is_below(full, folder); });
  if (given) return std::nullopt;
  if (full.size() == root.size()) return "";
  std::string relative = full.substr(root == "/" ? 1 : root.size() + 1);
  if (is_below(relative, ".git")) return std::nullopt;  // marks the root for whoever walks up
  return relative;
}

// What stands at a path whose folders are no links.
RevisionFiles::Place RevisionFiles::step(const std::string& path) const {
  if (path.empty()) return {FileKind::kFolder, path, nullptr};
  const auto entry = tree_.find(path);
  if (entry != tree_.end()) {
    const bool file = entry->second.kind == GitEntry::Kind::kFile;
    return {file ? FileKind::kFile : FileKind::kOther, path, &entry->second};
  }
  const auto below = tree_.lower_bound(path + "/");
  const bool folder = below != tree_.end() && below->first.starts_with(path + "/");
  return {folder ? FileKind::kFolder : FileKind::kMissing, path, nullptr};
}

RevisionFiles::Place RevisionFiles::find(const std::string& path) const {
  std::filesystem::path rest(path);
  Place place = step("");
  for (int links = 0; links <= kMaxLinks;) {
    if (rest.empty()) return place;
    if (place.kind != FileKind::kFolder) return {};
    const std::string name = rest.begin()->string();
    rest = rest.lexically_relative(name);
    if (rest == ".") rest.clear();
    const std::string folder = place.path;
    place = step(folder.empty() ? name : folder + "/" + name);
    if (place.entry == nullptr || place.entry->kind != GitEntry::Kind::kLink) continue;
    ++links;
    const ReadResult target = repository_->read(place.entry->object, kMaxLinkBytes);
    if (!target.bytes || target.bytes->starts_with('/')) return {FileKind::kOther, path, nullptr};
    rest = (std::filesystem::path(folder) / *target.bytes / rest).lexically_normal();
    std::string whole = without_slash(rest.generic_string());
    if (whole == ".." || whole.starts_with("../")) return {FileKind::kOther, path, nullptr};
    rest = whole == "." ? "" : whole;
    place = step("");
  }
  return {FileKind::kOther, path, nullptr};
}

FileKind RevisionFiles::kind(const std::string& path) const {
  const auto relative = inside(path);
  return relative ? find(*relative).kind : disk_.kind(path);
}

ReadResult RevisionFiles::read(const std::string& path, uint64_t max_bytes) const {
  const auto relative = inside(path);
  if (!relative) return disk_.read(path, max_bytes);
  const Place place = find(*relative);
  if (place.kind == FileKind::kFile) return repository_->read(place.entry->object, max_bytes);
  ReadResult result;
  result.error = place.kind == FileKind::kMissing ? "no such file or directory" : "not a file";
  return result;
}

// As DiskFiles lists: links to folders would let a walk run in circles.
FileKind RevisionFiles::listed_kind(const std::string& path) const {
  const Place place = step(path);
  if (place.entry == nullptr || place.entry->kind != GitEntry::Kind::kLink) return place.kind;
  return find(path).kind == FileKind::kFile ? FileKind::kFile : FileKind::kOther;
}

FolderResult RevisionFiles::list(const std::string& path) const {
  const auto relative = inside(path);
  if (!relative) return disk_.list(path);
  FolderResult result;
  const Place place = find(*relative);
  if (place.kind != FileKind::kFolder) {
    result.error = "no such folder";
    return result;
  }
  const std::string prefix = place.path.empty() ? "" : place.path + "/";
  for (auto at = tree_.lower_bound(prefix); at != tree_.end() && at->first.starts_with(prefix);) {
    const size_t slash = at->first.find('/', prefix.size());
    const std::string child = at->first.substr(0, slash);
    result.entries.push_back({child.substr(prefix.size()), listed_kind(child)});
    // '0' is the character behind '/', so this is behind everything in the folder.
    at = slash == std::string::npos ? std::next(at) : tree_.lower_bound(child + "0");
  }
  std::sort(result.entries.begin(), result.entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return result;
}

std::string RevisionFiles::write(const std::string& path, std::string_view) {
  return path + " is of a revision, which cannot be changed";
}

FolderResult WorkingTreeFiles::list(const std::string& path) const {
  FolderResult result = DiskFiles::list(path);
  for (FolderEntry& entry : result.entries) {
    if (entry.kind != FileKind::kFolder) continue;
    const std::string marker = join_path(join_path(path, entry.name), ".git");
    if (kind(marker) != FileKind::kMissing) entry.kind = FileKind::kOther;
  }
  return result;
}

}  // namespace kvbudget
