#include "rules/propose.h"

#include <utility>

namespace kvbudget {

void propose_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding) {
  const Setting* stated = d.settings.find(setting);
  if (stated == nullptr || !stated->where) return;
  Fix fix;
  fix.description = "set " + std::string(setting) + " to " + value;
  fix.edits.push_back({stated->where, value});
  finding.fix = std::move(fix);
}

}  // namespace kvbudget
