#include "lint/fix.h"

#include <algorithm>

namespace kvbudget {
namespace {

using EditsOfFile = std::map<const SourceFile*, std::vector<Edit>>;

bool overlap(const ByteRange& a, const ByteRange& b) {
  // Two insertions at one place have no order between them.
  if (a.begin == b.begin) return true;
  return a.begin < b.end && b.begin < a.end;
}

bool same(const Edit& a, const Edit& b) {
  return a.where.range.begin == b.where.range.begin && a.where.range.end == b.where.range.end &&
         a.text == b.text;
}

/// Two findings may ask for the very same edit, which is then made once.
bool fits(const Edit& edit, const EditsOfFile& taken) {
  const auto file = taken.find(edit.where.file);
  if (file == taken.end()) return true;
  return std::all_of(file->second.begin(), file->second.end(), [&](const Edit& other) {
    return same(edit, other) || !overlap(edit.where.range, other.where.range);
  });
}

/// A fix that leaves every byte as it is would be applied for ever.
bool changes_anything(const Fix& fix) {
  return std::any_of(fix.edits.begin(), fix.edits.end(), [](const Edit& e) {
    const ByteRange& range = e.where.range;
    return e.where && e.where.file->bytes().substr(range.begin, range.end - range.begin) != e.text;
  });
}

bool applicable(const Fix& fix, const EditsOfFile& taken) {
  return changes_anything(fix) &&
         std::all_of(fix.edits.begin(), fix.edits.end(), [&](const Edit& e) {
           return e.where && e.where.file->path() != "<stdin>" && fits(e, taken);
         });
}

std::string rewritten(const SourceFile& file, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.where.range.begin < b.where.range.begin; });
  edits.erase(std::unique(edits.begin(), edits.end(), same), edits.end());
  std::string text;
  size_t at = 0;
  for (const Edit& edit : edits) {
    text.append(file.bytes().substr(at, edit.where.range.begin - at));
    text.append(edit.text);
    at = edit.where.range.end;
  }
  text.append(file.bytes().substr(at));
  return text;
}

}  // namespace

FixedFiles apply_fixes(const std::vector<Diagnostic>& findings, FixLevel level) {
  FixedFiles result;
  EditsOfFile taken;
  for (const Diagnostic& finding : findings) {
    const bool wanted =
        finding.fix && (level == FixLevel::kAll || (level == FixLevel::kSafe && finding.fix->safe));
    if (!wanted || !applicable(*finding.fix, taken)) continue;
    for (const Edit& edit : finding.fix->edits) taken[edit.where.file].push_back(edit);
    ++result.applied;
  }
  for (const auto& [file, edits] : taken) {
    result.texts.emplace(file->path(), rewritten(*file, edits));
  }
  return result;
}

}  // namespace kvbudget
