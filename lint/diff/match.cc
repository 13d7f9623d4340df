#include "lint/diff/match.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace kvbudget {
namespace {

using Key = std::string;
constexpr char kEnd = '\0';  // of a part of a key

// Readers number what shares a name within one file ("script #2"); the number is an order, which
// counts last.
std::string name_without_number(const std::string& name) {
  const size_t hash = name.rfind(" #");
  const bool numbered = hash != std::string::npos && hash + 2 < name.size() &&
                        name.find_first_not_of("0123456789", hash + 2) == std::string::npos;
  return numbered ? name.substr(0, hash) : name;
}

Key identity_of(const Deployment& d) {
  return d.start.kind + kEnd + name_without_number(d.start.name) + kEnd;
}

// Names that say what kind of thing it is, but not which one.
bool has_own_name(const Deployment& d) {
  constexpr std::string_view kCommon[] = {"", "script", "vllm config", "image", "service", "task"};
  return std::find(std::begin(kCommon), std::end(kCommon), name_without_number(d.start.name)) ==
         std::end(kCommon);
}

// The words of the start, which say what it is but not where it stands.
Key contents_of(const Deployment& d) {
  Key key = d.model + kEnd;
  for (const Word& word : d.start.argv) key += word.text.str() + kEnd;
  if (d.start.image) key += d.start.image->str();
  return key + kEnd;
}

/// A way to tell deployments of one identity apart; they match in their order where it is the same.
/// An empty key matches nothing.
using Distinction = Key (*)(const Deployment&, const Key& file);

constexpr Distinction kDistinctions[] = {
    [](const Deployment& d, const Key& file) { return file + kEnd + contents_of(d); },
    [](const Deployment& d, const Key& file) { return file + kEnd + d.model + kEnd; },
    [](const Deployment&, const Key& file) { return file + kEnd; },
    [](const Deployment& d, const Key&) { return contents_of(d); },
    [](const Deployment& d, const Key&) { return d.model.empty() ? "" : d.model + kEnd; },
    [](const Deployment& d, const Key&) { return Key(has_own_name(d) ? "any" : ""); },
};

class Matcher {
 public:
  Matcher(const MatchSide& base, const MatchSide& head)
      : base_(base),
        head_(head),
        of_base_(base.deployments.size(), -1),
        of_head_(head.deployments.size(), -1) {}

  void match_by(Distinction distinction) {
    std::map<Key, std::vector<int>> waiting;
    for (size_t i = 0; i < of_base_.size(); ++i) {
      const Key key = key_of(base_, i, distinction);
      if (of_base_[i] < 0 && !key.empty()) waiting[key].push_back(static_cast<int>(i));
    }
    for (auto& [key, indexes] : waiting) std::reverse(indexes.begin(), indexes.end());
    for (size_t i = 0; i < of_head_.size(); ++i) {
      const auto found = waiting.find(key_of(head_, i, distinction));
      if (of_head_[i] >= 0 || found == waiting.end() || found->second.empty()) continue;
      of_head_[i] = found->second.back();
      of_base_[static_cast<size_t>(of_head_[i])] = static_cast<int>(i);
      found->second.pop_back();
    }
  }

  std::vector<Match> matches() const {
    std::vector<Match> result;
    for (size_t i = 0; i < of_head_.size(); ++i)
      result.push_back({of_head_[i], static_cast<int>(i)});
    for (size_t i = 0; i < of_base_.size(); ++i) {
      if (of_base_[i] < 0) result.push_back({static_cast<int>(i), -1});
    }
    return result;
  }

 private:
  static Key key_of(const MatchSide& side, size_t index, Distinction distinction) {
    const Deployment& d = side.deployments[index];
    const Key key = distinction(d, path_below(d.start.where, side.folder));
    return key.empty() ? key : identity_of(d) + key;
  }

  const MatchSide& base_;
  const MatchSide& head_;
  std::vector<int> of_base_, of_head_;
};

}  // namespace

std::string path_below(const Location& where, const std::string& folder) {
  if (!where) return "";
  namespace fs = std::filesystem;
  const fs::path path = fs::path(where.file->path()).lexically_normal();
  const fs::path below = path.lexically_relative(fs::path(folder).lexically_normal());
  return below.empty() ? path.generic_string() : below.generic_string();
}

std::vector<Match> match_deployments(const MatchSide& base, const MatchSide& head) {
  Matcher matcher(base, head);
  for (const Distinction distinction : kDistinctions) matcher.match_by(distinction);
  return matcher.matches();
}

}  // namespace kvbudget
