#include "lint/diff/git.h"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace kvbudget {
namespace {

// Messages are looked into, so they are asked for in English. A partial clone would fetch what it
// lacks; without --hub nothing touches the network.
const std::vector<std::string>& variables() {
  static const std::vector<std::string> list = {"LC_ALL=C", "GIT_NO_LAZY_FETCH=1",
                                                "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0"};
  return list;
}

ProcessResult git(std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  return run_process(words, variables());
}

std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  constexpr std::string_view kFatal = "fatal: ";
  return line.starts_with(kFatal) ? line.substr(kFatal.size()) : line;
}

// What a failed git says, or why there is no git.
std::string reason(const ProcessResult& result) {
  if (!result.failure.empty()) return "cannot run " + result.failure;
  const std::string line = first_line(result.err);
  return line.empty() ? "git failed without a message" : line;
}

std::optional<std::string> parse_commit(const std::string& revision) {
  const ProcessResult result =
      git({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (result.code != 0) return std::nullopt;
  return first_line(result.out);
}

// "100644 blob 7a3f…<TAB>deploy/a.yaml"
bool add_entry(std::string_view line, GitTree& tree) {
  const size_t tab = line.find('\t');
  const size_t mode_end = line.find(' ');
  if (tab == std::string_view::npos || mode_end > tab) return false;
  const size_t type_end = line.find(' ', mode_end + 1);
  if (type_end > tab) return false;
  const std::string_view mode = line.substr(0, mode_end);
  GitEntry entry;
  if (mode == "120000") entry.kind = GitEntry::Kind::kLink;
  if (mode == "160000") entry.kind = GitEntry::Kind::kRepository;
  entry.object = line.substr(type_end + 1, tab - type_end - 1);
  tree.emplace(line.substr(tab + 1), std::move(entry));
  return true;
}

// "7a3f… blob 1234"; nullopt for "7a3f… missing".
std::optional<uint64_t> blob_bytes(std::string_view header) {
  const size_t space = header.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  uint64_t bytes = 0;
  const char* end = header.data() + header.size();
  const auto [rest, error] = std::from_chars(header.data() + space + 1, end, bytes);
  if (error != std::errc() || rest != end) return std::nullopt;
  return bytes;
}

}  // namespace

std::unique_ptr<GitRepository> GitRepository::find(std::string& error) {
  const ProcessResult result = git({"rev-parse", "--show-toplevel"});
  if (result.code == 0 && result.out.size() > 1) {
    return std::unique_ptr<GitRepository>(new GitRepository(first_line(result.out)));
  }
  error = reason(result);
  return nullptr;
}

std::string GitRepository::shallow_hint() const {
  const ProcessResult result = git({"rev-parse", "--is-shallow-repository"});
  if (first_line(result.out) != "true") return "";
  return "; this clone is shallow: fetch the commit first ('git fetch --depth=1 origin REVISION', "
         "or fetch-depth: 0 where a checkout action asks)";
}

std::optional<std::string> GitRepository::commit(const std::string& revision,
                                                 std::string& error) const {
  if (auto found = parse_commit(revision)) return found;
  error = "no revision '" + revision + "' in " + root_;
  const std::string remote = "origin/" + revision;
  if (parse_commit(remote)) {
    error += "; did you mean '" + remote + "'?";
  } else {
    error += shallow_hint();
  }
  return std::nullopt;
}

std::optional<std::string> GitRepository::merge_base(const std::string& a, const std::string& b,
                                                     std::string& error) const {
  const ProcessResult result = git({"merge-base", "--end-of-options", a, b});
  if (result.code == 0) return first_line(result.out);
  error = "the two revisions have no common ancestor" + shallow_hint();
  return std::nullopt;
}

std::optional<GitTree> GitRepository::tree(const std::string& commit, std::string& error) const {
  const ProcessResult result =
      git({"ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit});
  GitTree tree;
  bool valid = result.code == 0;
  std::string_view rest = result.out;
  while (valid && !rest.empty()) {
    const size_t end = rest.find('\0');
    valid = end != std::string_view::npos && add_entry(rest.substr(0, end), tree);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (valid) return tree;
  error = "cannot list the files of " + commit + ": " + reason(result);
  return std::nullopt;
}

ReadResult GitRepository::read(const std::string& object, uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  if (reader_ == nullptr) {
    reader_ = std::make_unique<Conversation>(std::vector<std::string>{"git", "cat-file", "--batch"},
                                             variables());
  }
  ReadResult result;
  std::string header;
  if (!reader_->say(object + "\n") || !reader_->read_line(header)) {
    result.error = "git cat-file ended early";
    return result;
  }
  const std::optional<uint64_t> bytes = blob_bytes(header);
  if (!bytes) {
    result.error = "its bytes are not in this clone (a partial clone?)";
    return result;
  }
  result.file_bytes = *bytes;
  std::string text;
  const bool wanted = *bytes <= max_bytes;
  const bool read = wanted ? reader_->read_bytes(*bytes, text) : reader_->skip_bytes(*bytes);
  if (!read || !reader_->skip_bytes(1)) {  // the line break behind the bytes
    result.error = "git cat-file ended early";
  } else if (wanted) {
    result.bytes = std::move(text);
  }
  return result;
}

}  // namespace kvbudget
