#include "rules/propose.h"

#include <utility>

namespace kvbudget {

void propose_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding) {
  const Setting* stated = d.settings.find(setting);
  if (stated == nullptr || !stated->where) return;
  const ByteRange& range = stated->where.range;
  const std::string_view there =
      stated->where.file->bytes().substr(range.begin, range.end - range.begin);
  // A chart or an operator may derive the value from something else that stands there.
  if (there.find(stated->value) == std::string_view::npos) return;
  Fix fix;
  fix.description = "set " + std::string(setting) + " to " + value;
  fix.edits.push_back({stated->where, value});
  finding.fix = std::move(fix);
}

}  // namespace kvbudget
