#include "lint/fingerprint.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA1.h>

#include <cctype>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>

namespace kvbudget {
namespace {

bool overlap(const Location& a, const Location& b) {
  if (a.file != b.file || a.file == nullptr) return false;
  return a.range == b.range || (a.range.begin < b.range.end && b.range.begin < a.range.end);
}

uint64_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/// Keeps the name of the place that comes nearest to that of the finding.
class Nearest {
 public:
  explicit Nearest(const Location& finding) : finding_(finding) {}

  void offer(const Location& where, std::string_view name) {
    if (!overlap(where, finding_)) return;
    const uint64_t off = distance(where.range.begin, finding_.range.begin) +
                         distance(where.range.end, finding_.range.end);
    if (off >= best_) return;
    best_ = off;
    name_ = name;
  }
  std::string name() const { return std::string(name_); }

 private:
  Location finding_;
  uint64_t best_ = std::numeric_limits<uint64_t>::max();
  std::string_view name_;
};

/// The setting, flag or variable that stands where the finding points.
std::string subject_at(const Location& where, const Deployment& d) {
  // The first argument often is the place of the whole start, whichever flag comes first.
  const Location& start = d.start.where;
  if (where.file == start.file && where.range == start.range) return "";
  Nearest nearest(where);
  for (const auto& [name, setting] : d.settings.all()) {
    nearest.offer(setting.where, name);
    nearest.offer(setting.key, name);
  }
  for (const UnknownFlag& flag : d.settings.unknown_flags) nearest.offer(flag.where, flag.name);
  for (const RefusedWord& word : d.settings.refused_words) {
    nearest.offer(word.where, std::string_view(word.text).substr(0, word.text.find('=')));
  }
  for (const EnvVar& variable : d.start.env) {
    nearest.offer(variable.value.location(), variable.name.view());
    nearest.offer(variable.name.location(), variable.name.view());
  }
  nearest.offer(d.model_where, "model");
  nearest.offer(d.gpu_count_where, "gpu-count");
  if (d.start.image) nearest.offer(d.start.image->location(), "image");
  if (d.start.gpu.name) nearest.offer(d.start.gpu.name->where, "gpu");
  return nearest.name();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The line with its blanks joined and its numbers replaced; digits inside words stay, since
/// KVB101 and an L4 are names.
std::string line_without_numbers(const Location& where) {
  // An empty place at the beginning stands for the file as a whole.
  if (!where || where.range == ByteRange{}) return "";
  std::string text;
  bool in_word = false;
  for (const char c : where.file->line_text(where.file->position(where.range.begin).line)) {
    if (is_blank(c)) {
      if (!text.empty() && text.back() != ' ') text += ' ';
    } else if (!is_digit(c) || in_word) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
    in_word = std::isalpha(static_cast<unsigned char>(c)) != 0 || (in_word && is_digit(c));
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

FindingIdentity identity_of(const Diagnostic& finding, std::span<const Deployment> deployments) {
  FindingIdentity identity{std::string(finding.rule), "", finding.subject};
  const auto index = static_cast<size_t>(finding.deployment);
  if (finding.deployment < 0 || index >= deployments.size()) {
    if (identity.subject.empty()) identity.subject = line_without_numbers(finding.where);
    return identity;
  }
  const Deployment& d = deployments[index];
  identity.deployment = d.start.kind + " " + d.start.name;
  if (identity.subject.empty()) identity.subject = subject_at(finding.where, d);
  return identity;
}

std::string hash_of(const FindingIdentity& identity) {
  const std::string text = identity.rule + '\0' + identity.deployment + '\0' + identity.subject;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return llvm::toHex(llvm::ArrayRef<uint8_t>(llvm::SHA1::hash({bytes, text.size()})), true);
}

void set_fingerprints(std::vector<Diagnostic>& findings, std::span<const Deployment> deployments) {
  std::map<std::string, uint32_t> seen;
  for (Diagnostic& finding : findings) {
    const std::string hash = hash_of(identity_of(finding, deployments));
    finding.fingerprint = hash + ":" + std::to_string(++seen[hash]);
  }
}

std::string hash_of_fingerprint(const std::string& fingerprint) {
  return fingerprint.substr(0, fingerprint.find(':'));
}

}  // namespace kvbudget
