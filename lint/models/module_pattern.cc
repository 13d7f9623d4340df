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

ModulePatterns::ModulePatterns() = default;
ModulePatterns::ModulePatterns(ModulePatterns&&) noexcept = default;
ModulePatterns& ModulePatterns::operator=(ModulePatterns&&) noexcept = default;
ModulePatterns::~ModulePatterns() = default;

bool ModulePatterns::add(std::string_view entry) {
  if (!entry.starts_with("re:")) {
    const std::string name(without_prefix(entry));
    if (name.find('*') == std::string::npos) {
      names_.insert(name);
    } else {
      globs_.push_back(name);
      globs_.push_back(name + ".*");
    }
    return true;
  }
  entry.remove_prefix(3);
  if (entry.size() > kMaxRegexBytes || entry.find('{') != std::string_view::npos) return false;
  auto regex = std::make_unique<llvm::Regex>(to_posix(entry));
  std::string error;
  if (!regex->isValid(error)) return false;
  regexes_.push_back(std::move(regex));
  return true;
}

// Every run of whole segments: "layers.0", "layers.0.mlp", "mlp" …
bool ModulePatterns::has_segments(std::string_view path) const {
  if (names_.empty()) return false;
  for (size_t start = 0; start < path.size();) {
    size_t end = path.find('.', start);
    while (true) {
      if (names_.contains(path.substr(start, end - start))) return true;
      if (end == std::string_view::npos) break;
      end = path.find('.', end + 1);
    }
    const size_t next = path.find('.', start);
    if (next == std::string_view::npos) break;
    start = next + 1;
  }
  return false;
}

bool ModulePatterns::matches_name(std::string_view path) const {
  if (has_segments(path)) return true;
  for (const std::string& glob : globs_) {
    if (glob_matches(glob, path)) return true;
  }
  for (const auto& regex : regexes_) {
    for (const std::string_view prefix : kPrefixes) {
      if (regex->match(std::string(prefix) + std::string(path))) return true;
    }
  }
  return false;
}

bool ModulePatterns::matches(std::string_view path) const {
  return std::any_of(kAliases.begin(), kAliases.end(), [&](const Alias& alias) {
    const size_t at = path.find(alias.ours);
    if (at == std::string_view::npos) return false;
    std::string name(path);
    return matches_name(name.replace(at, alias.ours.size(), alias.theirs));
  });
}

}  // namespace kvbudget::models
