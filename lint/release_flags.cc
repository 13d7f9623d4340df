// Rules know what helps, the table of flags knows since when there is a flag for it: asked here
// once, so that no rule can forget to.
#include "lint/release_flags.h"

#include <algorithm>

#include "lint/engine/flags.h"

namespace kvbudget {
namespace {

constexpr std::string_view kDashes = "--";
constexpr std::string_view kNo = "no-";

bool release_lacks(std::string_view name, Version version) {
  if (const Flag* flag = find_flag(name)) return !flag_exists(*flag, version);
  if (!name.starts_with(kNo)) return false;
  const Flag* const flag = find_flag(name.substr(kNo.size()));
  return flag != nullptr &&
         (!flag_exists(*flag, version) || flag_kind(*flag, version).form != FlagForm::kTwoWay);
}

bool fix_does(const Fix& fix, Version version) {
  return std::any_of(fix.edits.begin(), fix.edits.end(), [&](const Edit& edit) {
    return names_flag_of_other_release(edit.text, version);
  });
}

}  // namespace

bool names_flag_of_other_release(std::string_view text, Version version) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  for (size_t at = text.find(kDashes); at != std::string_view::npos; at = text.find(kDashes, at)) {
    at += kDashes.size();
    const size_t end = std::min(text.find_first_not_of(kOfNames, at), text.size());
    if (end > at && release_lacks(text.substr(at, end - at), version)) return true;
    at = end;
  }
  return false;
}

void drop_flags_of_other_releases(const std::vector<Deployment>& deployments,
                                  std::vector<Diagnostic>& findings) {
  for (Diagnostic& finding : findings) {
    if (finding.deployment < 0) continue;
    const Version version = deployments[static_cast<size_t>(finding.deployment)].version;
    std::erase_if(finding.notes, [&](const Note& note) {
      return names_flag_of_other_release(note.message, version);
    });
    if (finding.fix && fix_does(*finding.fix, version)) finding.fix.reset();
  }
}

}  // namespace kvbudget
