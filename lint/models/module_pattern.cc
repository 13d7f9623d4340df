// vLLM's quantisation methods compare names in slightly different ways (equal, prefix, substring,
// fnmatch, re.match: vllm/model_executor/layers/quantization). Checkpoints also disagree on where
// the language model sits ("model.layers", "model.language_model.layers",
// "language_model.model.layers"). So leading segments of that kind are dropped on both sides, plain
// names match a run of whole segments, and regular expressions are tried below each prefix.
#include "lint/models/module_pattern.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Regex.h>

#include <algorithm>
#include <array>

namespace kvbudget::models {
namespace {

constexpr std::array<std::string_view, 6> kPrefixes = {
    "", "model.", "backbone.", "language_model.", "model.language_model.", "language_model.model."};
// What other families call the parts of a layer.
struct Alias {
  std::string_view ours;
  std::string_view theirs;
};
constexpr std::array kAliases = {
    Alias{"", ""},
    Alias{".mlp.", ".feed_forward."},
    Alias{".mlp.", ".block_sparse_moe."},
    Alias{".mlp.", ".mixer."},
    Alias{".mamba.", ".mixer."},
    Alias{".self_attn.", ".mixer."},
    Alias{".shared_experts.", ".shared_expert."},
};
// Longer than any published pattern; repetition counts could blow up the matcher.
constexpr size_t kMaxRegexBytes = 1000;

std::string_view without_prefix(std::string_view name) {
  for (size_t i = kPrefixes.size() - 1; i > 0; --i) {
    if (name.starts_with(kPrefixes[i])) return name.substr(kPrefixes[i].size());
  }
  return name;
}

// '*' stands for any text; iterative, so that no pattern takes more than |pattern| x |text| steps.
bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool has_segments(std::string_view path, std::string_view name) {
  if (name.empty()) return false;
  for (size_t at = path.find(name); at != std::string_view::npos; at = path.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || path[at - 1] == '.') && (end == path.size() || path[end] == '.')) return true;
  }
  return false;
}

// Python's re.match in POSIX terms: anchored at the start; \d is the one class in use.
std::string to_posix(std::string_view pattern) {
  std::string text = "^(";
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 2) == "\\d") {
      text += "[0-9]";
      ++i;
    } else {
      text += pattern[i];
    }
  }
  return text + ")";
}

}  // namespace

ModulePattern::ModulePattern(std::string_view text) {
  if (!text.starts_with("re:")) {
    text_ = without_prefix(text);
    glob_ = text_.find('*') != std::string::npos;
    return;
  }
  text.remove_prefix(3);
  valid_ = text.size() <= kMaxRegexBytes && text.find('{') == std::string_view::npos;
  if (!valid_) return;
  regex_ = std::make_unique<llvm::Regex>(to_posix(text));
  std::string error;
  valid_ = regex_->isValid(error);
}

ModulePattern::ModulePattern(ModulePattern&&) noexcept = default;
ModulePattern::~ModulePattern() = default;

bool ModulePattern::matches_name(std::string_view path) const {
  if (regex_ == nullptr) {
    if (glob_) return glob_matches(text_, path) || glob_matches(text_ + ".*", path);
    return has_segments(path, text_);
  }
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return regex_->match(std::string(prefix) + std::string(path));
  });
}

bool ModulePattern::matches(std::string_view path) const {
  if (!valid_) return false;
  return std::any_of(kAliases.begin(), kAliases.end(), [&](const Alias& alias) {
    const size_t at = path.find(alias.ours);
    if (at == std::string_view::npos) return false;
    std::string name(path);
    return matches_name(name.replace(at, alias.ours.size(), alias.theirs));
  });
}

}  // namespace kvbudget::models
