#include "lint/diff/sides.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lint/diff/git.h"
#include "lint/diff/revision_files.h"

namespace kvbudget {
namespace {

Sides failed(std::string error, ExitCode code) {
  Sides sides;
  sides.error = std::move(error);
  sides.code = code;
  return sides;
}

Side side_on_disk(const std::string& path) {
  Side side;
  side.name = path;
  side.files = std::make_shared<DiskFiles>();
  side.paths = {path};
  side.folder = path;  // of two files, whatever they are called
  return side;
}

/// `BASE HEAD`, `BASE..HEAD` or `BASE...HEAD`, as git reads them: what is left out before or behind
/// the dots is HEAD.
struct Range {
  std::string base;
  std::optional<std::string> head;
  bool from_merge_base = false;
};

Range range_of(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (words.size() > 1) return {first, words[1], false};
  const size_t dots = first.find("..");
  if (dots == std::string::npos) return {first, std::nullopt, false};
  const bool three = first.compare(dots, 3, "...") == 0;
  const auto or_head = [](std::string name) { return name.empty() ? "HEAD" : name; };
  return {or_head(first.substr(0, dots)), or_head(first.substr(dots + (three ? 3 : 2))), three};
}

/// Makes the sides of one repository.
class Revisions {
 public:
  Revisions(std::shared_ptr<GitRepository> repository, const std::vector<std::string>& from_disk)
      : repository_(std::move(repository)), from_disk_(from_disk) {}

  Sides sides(const Range& range) {
    Sides sides;
    fill(range, sides);
    if (sides.error.empty()) return sides;
    sides.code = kFailed;
    return sides;
  }

 private:
  void fill(const Range& range, Sides& sides) {
    std::optional<std::string> base = repository_->commit(range.base, sides.error);
    std::optional<std::string> head;
    if (base && range.head) {
      head = repository_->commit(*range.head, sides.error);
      if (head && range.from_merge_base) base = repository_->merge_base(*base, *head, sides.error);
    }
    if (!sides.error.empty()) return;
    revision(range.base, *base, sides.base, sides.error);
    if (head) return revision(*range.head, *head, sides.head, sides.error);
    sides.head.name = "working tree";
    sides.head.files = std::make_shared<WorkingTreeFiles>();
  }

  void revision(const std::string& name, const std::string& commit, Side& side,
                std::string& error) {
    std::optional<GitTree> tree = repository_->tree(commit, error);
    if (!tree) return;
    side.name = name;
    side.commit = commit;
    side.files = std::make_shared<RevisionFiles>(repository_, std::move(*tree), from_disk_);
  }

  std::shared_ptr<GitRepository> repository_;
  const std::vector<std::string>& from_disk_;
};

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(join_path(folder, ""));
}

// A path that only one side has is what the change adds or takes away.
std::string choose_paths(const std::vector<std::string>& asked, const std::string& root,
                         Sides& sides) {
  for (const std::string& path : asked) {
    if (!is_below(DiskFiles().absolute(path), root)) return path + " lies outside of " + root;
    bool found = path == ".";
    for (Side* side : {&sides.base, &sides.head}) {
      if (side->files->kind(path) == FileKind::kMissing) continue;
      side->paths.push_back(path);
      found = true;
    }
    if (!found) return path + ": no such file or folder on either side";
  }
  return "";
}

}  // namespace

Sides find_sides(const Options& options, const std::vector<std::string>& from_disk) {
  const std::vector<std::string>& words = options.paths;
  if (words.empty() || words.size() > 2) {
    return failed(
        "diff: expected BASE [HEAD]: two files or folders, or one or two revisions; "
        "paths stand behind --",
        kUsage);
  }
  const DiskFiles disk;
  const auto is_path = [&](const std::string& word) {
    return disk.kind(word) != FileKind::kMissing;
  };
  const bool paths = std::all_of(words.begin(), words.end(), is_path);
  if (words.size() == 2 && paths) {
    if (!options.command_line.empty()) {
      return failed("diff: paths behind -- go with revisions, not with two paths", kUsage);
    }
    return {side_on_disk(words[0]), side_on_disk(words[1]), "", kUsage};
  }
  std::string error;
  const std::shared_ptr<GitRepository> repository = GitRepository::find(error);
  if (repository == nullptr) {
    const bool one_path = std::any_of(words.begin(), words.end(), is_path);
    const std::string hint = one_path ? "expected a second path, or revisions: " : "";
    return failed("diff: " + hint + error, kFailed);
  }
  Sides sides = Revisions(repository, from_disk).sides(range_of(words));
  if (sides.error.empty()) {
    const std::vector<std::string> here = {"."};
    sides.error = choose_paths(options.command_line.empty() ? here : options.command_line,
                               repository->root(), sides);
  }
  if (!sides.error.empty()) return failed("diff: " + sides.error, kFailed);
  return sides;
}

}  // namespace kvbudget
